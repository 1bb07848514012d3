import { kafkaErrors } from './errors.ts'

/** How to prove who we are and whom we talk to; one description for both clients. */
export interface KafkaSecurity {
  /** `true` trusts the system's or the runtime's authorities; PEM texts name others. Absent means plain text. */
  readonly tls?: true | KafkaTls
  readonly sasl?: KafkaSasl
}

/** TLS material as PEM texts. Certificates and host names are always verified. */
export interface KafkaTls {
  readonly ca?: string
  readonly certificate?: string
  readonly key?: string
  readonly keyPassphrase?: string
}

/** A SASL login. */
export interface KafkaSasl {
  readonly mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512'
  readonly username: string
  readonly password: string
}

/** The options of the inspector's client that a security description stands for. */
export interface InspectorSecurity {
  readonly tls?: {
    readonly ca?: string
    readonly cert?: string
    readonly key?: string
    readonly passphrase?: string
    readonly minVersion: 'TLSv1.2'
  }
  readonly sasl?: KafkaSasl
}

const mechanisms: ReadonlySet<string> = new Set(['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'])

/**
 * Checks a security description before anything connects.
 *
 * @throws {TidemarkError} TM_KAFKA_OPTION_INVALID naming the option, never its value.
 */
export function checkSecurity(security: KafkaSecurity): void {
  if (security.tls !== undefined && security.tls !== true) checkTls(security.tls)
  if (security.sasl !== undefined) checkSasl(security.sasl)
}

function checkTls(tls: KafkaTls): void {
  for (const name of ['ca', 'certificate', 'key'] as const) {
    const text = tls[name]
    if (text !== undefined && !text.includes('-----BEGIN '))
      throw invalid(`security.tls.${name}`, 'it is not a PEM text')
  }
  if ((tls.certificate === undefined) !== (tls.key === undefined)) {
    throw invalid('security.tls.certificate', 'certificate and key are given together or not at all')
  }
}

function checkSasl(sasl: KafkaSasl): void {
  if (!mechanisms.has(sasl.mechanism)) {
    throw invalid('security.sasl.mechanism', `${String(sasl.mechanism)} is none of ${[...mechanisms].join(', ')}`)
  }
  if (typeof sasl.username !== 'string' || sasl.username === '') throw invalid('security.sasl.username', 'it is empty')
  if (typeof sasl.password !== 'string' || sasl.password === '') throw invalid('security.sasl.password', 'it is empty')
}

function invalid(option: string, reason: string): Error {
  return kafkaErrors.create('TM_KAFKA_OPTION_INVALID', { option, reason })
}

/** The security settings of the fetching client. Holds secrets: never print it. */
export function consumerSecurity(security: KafkaSecurity): Readonly<Record<string, string | boolean>> {
  const { tls, sasl } = security
  const protocol = `${sasl === undefined ? '' : 'sasl_'}${tls === undefined ? 'plaintext' : 'ssl'}`
  const settings: Record<string, string | boolean> = { 'security.protocol': protocol }
  if (tls !== undefined) {
    settings['enable.ssl.certificate.verification'] = true
    settings['ssl.endpoint.identification.algorithm'] = 'https'
    if (tls !== true) {
      if (tls.ca !== undefined) settings['ssl.ca.pem'] = tls.ca
      if (tls.certificate !== undefined) settings['ssl.certificate.pem'] = tls.certificate
      if (tls.key !== undefined) settings['ssl.key.pem'] = tls.key
      if (tls.keyPassphrase !== undefined) settings['ssl.key.password'] = tls.keyPassphrase
    }
  }
  if (sasl !== undefined) {
    settings['sasl.mechanisms'] = sasl.mechanism
    settings['sasl.username'] = sasl.username
    settings['sasl.password'] = sasl.password
  }
  return settings
}

/** The security settings of the inspecting client. Holds secrets: never print it. */
export function inspectorSecurity(security: KafkaSecurity): InspectorSecurity {
  const { tls, sasl } = security
  const material = tls === undefined || tls === true ? {} : tls
  return {
    ...(tls === undefined
      ? {}
      : {
          tls: {
            minVersion: 'TLSv1.2' as const,
            ...(material.ca === undefined ? {} : { ca: material.ca }),
            ...(material.certificate === undefined ? {} : { cert: material.certificate }),
            ...(material.key === undefined ? {} : { key: material.key }),
            ...(material.keyPassphrase === undefined ? {} : { passphrase: material.keyPassphrase }),
          },
        }),
    ...(sasl === undefined ? {} : { sasl }),
  }
}

/**
 * A function that removes every secret of a description from a text a client produced.
 *
 * Clients quote configuration in their messages; what leaves this package passes through here.
 */
export function secretsRemover(security: KafkaSecurity): (text: string) => string {
  const { tls, sasl } = security
  const secrets = [sasl?.password, tls === true ? undefined : tls?.key, tls === true ? undefined : tls?.keyPassphrase]
    .filter((secret): secret is string => secret !== undefined && secret !== '')
    .sort((a, b) => b.length - a.length)
  return (text) => secrets.reduce((clean, secret) => clean.replaceAll(secret, '***'), text)
}
