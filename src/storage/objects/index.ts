/**
 * A whole store in an object store, or large blobs in one, next to any other backend.
 *
 * @module rekindle/storage/objects
 */
export { LocalObjects } from './local-objects.js';
export { type WithObjectsOptions, withObjects } from './object-backend.js';
export { ObjectBlobs } from './object-blobs.js';
export type {
  ConditionalObjects,
  ObjectEntry,
  ObjectInfo,
  ObjectStorage,
  VersionedObject,
  WriteCondition,
} from './object-storage.js';
export { ObjectsStorage, type ObjectsStorageOptions } from './objects-storage.js';
export { openObjects } from './open-objects.js';
export type { RetryOptions } from './retry-policy.js';
export { S3Objects, type S3ObjectsOptions } from './s3-objects.js';
export { UcVolumesObjects, type UcVolumesOptions } from './uc-volumes-objects.js';
