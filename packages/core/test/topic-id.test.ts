import { isCanonicalTopicId, isTidemarkError, readTopicId, topicIdOf } from '@tidemark/core'
import { describe, expect, it } from 'vitest'

const canonical = 'edbce881-ef7f-96bd-9d9a-2d48fd68e2f5'

describe('topic ids', () => {
  it.each([
    canonical,
    canonical.toUpperCase(),
    '7bzoge9/lr2dmi1I/Wji9Q',
    '7bzoge9/lr2dmi1I/Wji9Q==',
    '7bzoge9_lr2dmi1I_Wji9Q',
  ])('[COR-3] the spelling %s is brought to one', (text) => {
    expect(readTopicId(text)).toEqual({ kind: 'topic-id', topicId: canonical })
    expect(topicIdOf(text)).toBe(canonical)
  })

  it.each(['00000000-0000-0000-0000-000000000000', 'AAAAAAAAAAAAAAAAAAAAAA', 'AAAAAAAAAAAAAAAAAAAAAA=='])(
    '[COR-3] the zero id %s is told apart',
    (text) => {
      expect(readTopicId(text)).toEqual({ kind: 'zero' })
      expect(() => topicIdOf(text)).toThrow(/the zero id/)
      expect(isCanonicalTopicId(text)).toBe(false)
    },
  )

  it.each([
    '',
    'dispatch',
    canonical.replaceAll('-', ''),
    `{${canonical}}`,
    ` ${canonical}`,
    `${canonical}\n`,
    canonical.replace('e', 'g'),
    // Both alphabets in one text, a wrong length, one padding sign, stray bits in the last character.
    '7bzoge9/lr2dmi1I_Wji9Q',
    '7bzoge9/lr2dmi1I/Wji9',
    '7bzoge9/lr2dmi1I/Wji9Q=',
    '7bzoge9/lr2dmi1I/Wji9R',
    '7bzoge9/lr2dmi1I/Wji9é',
  ])('[COR-3] %j is unreadable', (text) => {
    expect(readTopicId(text).kind).toBe('unreadable')
    let thrown: unknown
    try {
      topicIdOf(text)
    } catch (error) {
      thrown = error
    }
    expect(isTidemarkError(thrown, 'TM_CORE_TOPIC_ID_INVALID')).toBe(true)
  })

  it('[COR-3] only the stored spelling is canonical', () => {
    expect(isCanonicalTopicId(canonical)).toBe(true)
    for (const text of [canonical.toUpperCase(), '7bzoge9/lr2dmi1I/Wji9Q', '']) {
      expect(isCanonicalTopicId(text)).toBe(false)
    }
  })
})
