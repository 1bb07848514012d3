import type { JsonValue } from './json-value.ts'
import { TidemarkError } from './tidemark-error.ts'

/** Values an error message is built from; all of them JSON-safe. */
export type ErrorDetails = Readonly<Record<string, JsonValue>>

/** One row of an error catalogue. */
export interface ErrorSpec<D extends ErrorDetails = never> {
  readonly retriable: boolean
  /** Builds the one-line message; it must name what and where. */
  readonly message: (details: D) => string
  /** One sentence: what the operator or caller can do. */
  readonly remedy: string
}

/** A package's error table: the same data makes the errors, the documentation check and the tests. */
export interface ErrorCatalogue<S> {
  readonly area: string
  readonly codes: readonly (keyof S & string)[]
  /** Makes (does not throw) the error of a code, so that the throw statement stays visible to the reader and the compiler. */
  create<C extends keyof S & string>(
    code: C,
    details: DetailsOf<S[C]>,
    options?: { readonly cause?: unknown },
  ): TidemarkError
  docsPath(code: keyof S & string): string
  remedy(code: keyof S & string): string
}

/** What the message of one code is made of. */
export type DetailsOf<Spec> = Spec extends { readonly message: (details: infer D) => string } ? D : never

/** Declares the error table of one area; every code must start with `TM_<AREA>_`. */
export function defineErrors<const S extends Readonly<Record<string, ErrorSpec>>>(
  area: string,
  specs: S,
): ErrorCatalogue<S> {
  const prefix = `TM_${area.toUpperCase()}_`
  const codes = Object.keys(specs) as (keyof S & string)[]
  const stray = codes.find((code) => !code.startsWith(prefix))
  if (stray !== undefined) throw new TypeError(`error code ${stray} does not start with ${prefix}`)
  const docsPath = (code: string): string => `docs/errors/${area.toLowerCase()}.md#${code.toLowerCase()}`
  return {
    area,
    codes,
    docsPath,
    remedy: (code) => specs[code]!.remedy,
    create(code, details, options) {
      const spec = specs[code]! as ErrorSpec<ErrorDetails>
      const fields = {
        code,
        details: details as ErrorDetails,
        retriable: spec.retriable,
        remedy: spec.remedy,
        docsPath: docsPath(code),
      }
      return new TidemarkError(spec.message(details as ErrorDetails), fields, options)
    },
  }
}
