import { createZoneCalendar } from '../civil/zone-calendar.ts'
import { readZoneTransitions } from '../civil/zone-transitions.ts'
import type { SessionWindow, WindowShape } from '../policy/stream-time-policy.ts'
import type { AlignedAssigner } from './assigner.ts'
import { createCivilAssigner } from './civil-assigner.ts'
import { createSlidingAssigner } from './sliding-assigner.ts'
import { createTumblingAssigner } from './tumbling-assigner.ts'

/** The shapes whose windows are the same for every key; those of sessions follow from a key's events. */
export type AlignedShape = Exclude<WindowShape, SessionWindow>

/**
 * The assigner of a policy's window shape.
 *
 * @throws {TidemarkError} TM_WINDOW_SHAPE_INVALID, TM_WINDOW_ZONE_UNKNOWN, TM_WINDOW_ZONE_DATA_UNREADABLE
 */
export function createAlignedAssigner(shape: AlignedShape): AlignedAssigner {
  switch (shape.kind) {
    case 'tumbling':
      return createTumblingAssigner(shape)
    case 'sliding':
      return createSlidingAssigner(shape)
    case 'civil':
      return createCivilAssigner(createZoneCalendar(readZoneTransitions(shape.zone), shape.unit))
  }
}
