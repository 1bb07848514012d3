import { serviceErrors } from '../errors.ts'
import type { OwnedProcess, ProcessState } from './owned-process.ts'

/** The life of a server that is one process at a time and a new one after every restart. */
export abstract class OwnedServer {
  readonly #service: string
  protected process: OwnedProcess | undefined

  /** `service` is how errors name it. */
  constructor(service: string) {
    this.#service = service
  }

  pid(): number {
    return this.started().pid
  }

  state(): ProcessState {
    return this.process?.state() ?? 'dead'
  }

  logTail(): string {
    return this.process?.logTail() ?? ''
  }

  pause(): void {
    this.started().pause()
  }

  resume(): void {
    this.started().resume()
  }

  async kill(): Promise<void> {
    await this.process?.kill()
  }

  async stop(): Promise<void> {
    await this.process?.stop()
  }

  /** The running process. Throws: TM_SERVICE_STATE_INVALID before the first start. */
  protected started(): OwnedProcess {
    if (this.process === undefined) {
      const details = { service: this.#service, action: 'be used', state: 'not started' }
      throw serviceErrors.create('TM_SERVICE_STATE_INVALID', details)
    }
    return this.process
  }
}
