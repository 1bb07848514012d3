import { isTidemarkError, messageOf } from '@tidemark/core'
import type { JsonValue } from '@tidemark/core'
import { verdicts } from '../verdicts.ts'
import type { Verdict } from '../verdicts.ts'
import type { Secrets } from '../places/secrets.ts'
import { REPORT_VERSION } from './report.ts'
import type { CommandName, ErrorReport } from './report.ts'

/** What a value was wrong for, told before anything was connected. */
const wrongSetting = /_(?:OPTION|ADDRESS|NAMESPACE|TOPIC|LIMIT)_INVALID$|_UNSAFE_OPTION$/

/** Errors that say what is stored, not that it could not be read. */
const damaged: ReadonlySet<string> = new Set([
  'TM_EMBEDDED_DAMAGED',
  'TM_EMBEDDED_FORMAT_UNKNOWN',
  'TM_EMBEDDED_DIRECTORY_FOREIGN',
  'TM_REDIS_WRONG_TYPE',
  'TM_POSTGRES_TABLES_WRONG',
  'TM_POSTGRES_TABLES_NEWER',
  'TM_POSTGRES_WRONG_KIND',
  'TM_POSTGRES_DATA_CORRUPTED',
])

/** What to do where the remedy of a package speaks to the service's code, and an operator has options instead. */
const operatorRemedies: Readonly<Record<string, string>> = {
  TM_POSTGRES_TABLES_MISSING:
    'Name the schemas as the service does: --schema (tidemark unless said), and --data-schema where its data stands in another ' +
    '(that of --schema unless said). Nothing was created: a look creates no tables, the service does by ensurePostgresTables.',
}

/** The verdict that an error stands for. */
export function errorVerdict(error: unknown): Verdict {
  if (!isTidemarkError(error)) return 'failed'
  const { code, cause } = error
  if (code === 'TM_CORE_CANCELLED') return 'interrupted'
  // A start that could not ask says so; why it could not is the cause's to say.
  if (code === 'TM_CHECKPOINT_START_FAILED') return isTidemarkError(cause) ? errorVerdict(cause) : 'unavailable'
  if (code === 'TM_CHECKPOINT_VERIFY_FAILED') return 'unverifiable'
  if (code === 'TM_CLI_PROJECT_FAILED' || code === 'TM_CHECKPOINT_WRITE_INVALID') return 'failed'
  if (code.startsWith('TM_CLI_') || wrongSetting.test(code)) return 'usage'
  if (damaged.has(code)) return 'damaged'
  if (/^TM_(?:REDIS|KAFKA|POSTGRES|EMBEDDED)_/.test(code) || code === 'TM_CORE_DEADLINE_EXCEEDED') return 'unavailable'
  return 'failed'
}

/** The report of an error; nothing in it repeats a secret. */
export function errorReport(command: CommandName, error: unknown, secrets: Secrets): ErrorReport {
  const verdict = errorVerdict(error)
  const head = { version: REPORT_VERSION, command, verdict, exitCode: verdicts[verdict].exitCode } as const
  const message = secrets.redact(messageOf(error).split('\n')[0]!)
  if (!isTidemarkError(error)) return { ...head, error: { message, details: {}, retriable: false } }
  const { code, docsPath, retriable } = error
  const remedy = operatorRemedies[code] ?? error.remedy
  const details = redacted(error.details, secrets) as Readonly<Record<string, JsonValue>>
  return { ...head, error: { code, message, details, remedy, docs: docsPath, retriable } }
}

function redacted(value: JsonValue, secrets: Secrets): JsonValue {
  if (typeof value === 'string') return secrets.redact(value)
  if (Array.isArray(value)) return value.map((each: JsonValue) => redacted(each, secrets))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, redacted(each as JsonValue, secrets)]))
}
