/** One law of a port as data: no test runner inside, so that it can be registered in any, or run by hand. */
export interface ContractCase<World, Capability extends string> {
  /** Stable id, for example `PST-07`. */
  readonly id: string
  /** What must hold, as a sentence. */
  readonly title: string
  /** Numbers of the promises it checks, for example `CKP-21` or `CK-13`. */
  readonly promises: readonly string[]
  /** What the world must be able to do; a world that lacks one makes the case not applicable, and that is reported. */
  readonly needs: readonly Capability[]
  /** Throws when the law does not hold. Makes its own world and closes it. */
  run(make: () => Promise<World>): Promise<void>
}

/** What every world can do: be given up. */
export interface ContractWorld {
  close(): Promise<void>
}

/** A case whose world is made and closed around its body. */
export function contractCase<World extends ContractWorld, Capability extends string>(
  head: Pick<ContractCase<World, Capability>, 'id' | 'title'> &
    Partial<Pick<ContractCase<World, Capability>, 'promises' | 'needs'>>,
  body: (world: World) => Promise<void>,
): ContractCase<World, Capability> {
  return {
    promises: [],
    needs: [],
    ...head,
    async run(make) {
      const world = await make()
      try {
        await body(world)
      } finally {
        await world.close()
      }
    },
  }
}

/** The two functions of a test runner that registering needs; vitest, jest, mocha and node:test all have them. */
export interface CaseRunner<Capability extends string> {
  describe(name: string, body: () => void): void
  it: {
    (name: string, body: () => Promise<void>): void
    skip(name: string, body: () => Promise<void>): void
  }
  /** Every capability said, so that a new one cannot be forgotten: the compiler asks for it. */
  readonly capabilities: Readonly<Record<Capability, boolean>>
  /** Names the subject in the report. */
  readonly subject: string
}

/** What was registered and what was not, by id. */
export interface RegisteredCases {
  readonly applicable: readonly string[]
  readonly notApplicable: readonly { readonly id: string; readonly lacks: readonly string[] }[]
}

/** The title a case is registered under: its id and the promises it checks in brackets, then the sentence. */
export function caseTitle(contractCase: ContractCase<never, string>): string {
  const ids = [contractCase.id, ...contractCase.promises].map((id) => `[${id}]`).join(' ')
  return `${ids} ${contractCase.title}`
}

/**
 * Registers cases in a test runner. A case whose needs are not met is registered as skipped, with what it lacks in its
 * title: it stands in the report instead of vanishing. Promises: TST-7.
 */
export function registerCases<World, Capability extends string>(
  cases: readonly ContractCase<World, Capability>[],
  make: () => Promise<World>,
  runner: CaseRunner<Capability>,
): RegisteredCases {
  const applicable: string[] = []
  const notApplicable: { readonly id: string; readonly lacks: readonly string[] }[] = []
  runner.describe(runner.subject, () => {
    for (const each of cases) {
      const lacks = each.needs.filter((need) => !runner.capabilities[need])
      const title = caseTitle(each)
      if (lacks.length === 0) {
        applicable.push(each.id)
        runner.it(title, () => each.run(make))
      } else {
        notApplicable.push({ id: each.id, lacks })
        runner.it.skip(`${title} (not applicable: ${runner.subject} lacks ${lacks.join(', ')})`, () => each.run(make))
      }
    }
  })
  return { applicable, notApplicable }
}
