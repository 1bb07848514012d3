/** Where a projection stands. It may be served from in `ready` only. */
export type ProjectionState = 'starting' | 'catching-up' | 'ready' | 'dirty' | 'stopped'

/** What can happen to a projection. */
export type ProjectionEvent = 'started' | 'refused' | 'caught-up' | 'failed' | 'stopped'

/**
 * Every state and event, so that the compiler asks for every cell. `undefined` means the event is ignored there: a late
 * success never revives a projection that went dirty or was stopped. Promises: CKP-30.
 */
export const projectionTransitions: Readonly<
  Record<ProjectionState, Readonly<Record<ProjectionEvent, ProjectionState | undefined>>>
> = {
  starting: { started: 'catching-up', refused: 'stopped', 'caught-up': undefined, failed: 'dirty', stopped: 'stopped' },
  'catching-up': { started: undefined, refused: undefined, 'caught-up': 'ready', failed: 'dirty', stopped: 'stopped' },
  ready: { started: undefined, refused: undefined, 'caught-up': undefined, failed: 'dirty', stopped: 'stopped' },
  dirty: { started: undefined, refused: undefined, 'caught-up': undefined, failed: undefined, stopped: 'stopped' },
  stopped: { started: undefined, refused: undefined, 'caught-up': undefined, failed: undefined, stopped: undefined },
}
