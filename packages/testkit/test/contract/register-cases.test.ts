import { contractCase, registerCases } from '@tidemark/testkit/contract'
import type { CaseRunner } from '@tidemark/testkit/contract'
import { describe, expect, it } from 'vitest'

type Need = 'restart' | 'damage'

/** A runner that only writes down what it is given. */
function recordingRunner(capabilities: Readonly<Record<Need, boolean>>) {
  const titles: string[] = []
  const bodies: (() => Promise<void>)[] = []
  const register = Object.assign(
    (name: string, body: () => Promise<void>): void => {
      titles.push(name)
      bodies.push(body)
    },
    { skip: (name: string): void => void titles.push(`SKIPPED ${name}`) },
  )
  const runner: CaseRunner<Need> = { describe: (_, body) => body(), it: register, capabilities, subject: 'a store' }
  return { runner, titles, bodies }
}

const closed: string[] = []
const make = async () => ({ name: 'world', close: async () => void closed.push('closed') })
const cases = [
  contractCase<Awaited<ReturnType<typeof make>>, Need>(
    { id: 'X-1', title: 'holds always', promises: ['CKP-20', 'A1'] },
    async (world) => expect(world.name).toBe('world'),
  ),
  contractCase<Awaited<ReturnType<typeof make>>, Need>(
    { id: 'X-2', title: 'needs more', needs: ['damage', 'restart'] },
    async () => {
      throw new Error('broken law')
    },
  ),
]

describe('registering contract cases', () => {
  it('[TST-7] a case is a title with its ids and a body that makes and closes its own world', async () => {
    const { runner, titles, bodies } = recordingRunner({ damage: true, restart: true })
    expect(registerCases(cases, make, runner)).toEqual({ applicable: ['X-1', 'X-2'], notApplicable: [] })
    expect(titles).toEqual(['[X-1] [CKP-20] [A1] holds always', '[X-2] needs more'])
    closed.length = 0
    await bodies[0]!()
    await expect(bodies[1]!()).rejects.toThrow('broken law')
    expect(closed).toEqual(['closed', 'closed'])
  })

  it('[TST-7] a case whose needs are not met is reported with what is lacking, never dropped', () => {
    const { runner, titles } = recordingRunner({ damage: true, restart: false })
    expect(registerCases(cases, make, runner)).toEqual({
      applicable: ['X-1'],
      notApplicable: [{ id: 'X-2', lacks: ['restart'] }],
    })
    expect(titles[1]).toBe('SKIPPED [X-2] needs more (not applicable: a store lacks restart)')
  })
})
