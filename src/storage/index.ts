/**
 * Where memory is stored: the ports that a backend implements, and the backends for files and for process memory.
 *
 * @module rekindle/storage
 */
export type { Detector, Finding } from '../core/redaction/detector.js';
export {
  type PatternInit,
  type RedactionAction,
  type RedactionOptions,
  Redactor,
} from '../core/redaction/redactor.js';
export type {
  Meter,
  Span,
  Telemetry,
  TelemetryAttributes,
  TelemetryOptions,
  Tracer,
} from '../core/telemetry.js';
export { AuditLog, type AuditLogOptions, hasAuditLog } from './audit/audit-log.js';
export type { AuditAction, AuditEntry, AuditHead, AuditRecord } from './audit/audit-record.js';
export {
  type AuditProblem,
  type AuditVerification,
  auditRecords,
  type VerifyAuditOptions,
  verifyAudit,
} from './audit/verify-audit.js';
export { type CopyOptions, type CopyProgress, type CopyResult, copyStorage } from './copy-storage.js';
export { FileStorage, type FileStorageOptions } from './file/file-storage.js';
export type { StorageWarning } from './file/storage-errors.js';
export { withTelemetry } from './measured-storage.js';
export { MemoryStorage } from './memory/memory-storage.js';
export { decodeNameSegment, encodeNameSegment } from './name-encoding.js';
export { isStorageUrl, openStorage } from './open-storage.js';
export type {
  AppendOptions,
  AppendResult,
  BlobInfo,
  Blobs,
  Cursor,
  DocumentDurability,
  Documents,
  DocumentWriteOptions,
  DurabilityMode,
  Journal,
  JournalDamage,
  JournalEntry,
  JournalHead,
  JournalOptions,
  JournalRecord,
  Lease,
  LeaseOptions,
  LeaseOwner,
  Leases,
  Name,
  ReadOptions,
  StorageBackend,
  StorageCapabilities,
  StorageChange,
  StoredBlob,
  StoredName,
  StoredPlace,
} from './ports.js';
export { withRedaction } from './redacted-storage.js';
export type { DataKeyInfo } from './sealing/data-keys.js';
export { type Environment, EnvironmentKeys } from './sealing/environment-keys.js';
export { KeyFile } from './sealing/key-file.js';
export type { KeyProvider, WrappedDataKey } from './sealing/key-provider.js';
export { Keychain } from './sealing/keychain.js';
export { type MasterKey, type MasterKeys, masterKeyOf } from './sealing/master-keys.js';
export { type KeyRotation, type SealedStorage, withSealing } from './sealing/sealed-storage.js';
export { type SecretPlace, StoredKeys } from './sealing/stored-keys.js';
export type { StorageRedactor } from './storage-redactor.js';
export { listTenants, withTenant } from './tenants/tenant-storage.js';
