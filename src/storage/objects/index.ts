/**
 * Large blobs in an object store, next to any other backend.
 *
 * @module rekindle/storage/objects
 */
export { LocalObjects } from './local-objects.js';
export { type WithObjectsOptions, withObjects } from './object-backend.js';
export { ObjectBlobs } from './object-blobs.js';
export type { ObjectEntry, ObjectInfo, ObjectStorage } from './object-storage.js';
export { openObjects } from './open-objects.js';
export type { RetryOptions } from './retry-policy.js';
export { S3Objects, type S3ObjectsOptions } from './s3-objects.js';
export { UcVolumesObjects, type UcVolumesOptions } from './uc-volumes-objects.js';
