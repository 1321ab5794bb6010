/** One run of a job at a time, and at most one more waiting; knows nothing of what the job is. */

export class Turns {
  #running: Promise<void> | undefined;
  #waiting: Promise<void> | undefined;

  constructor(private readonly job: () => Promise<void>) {}

  /** Runs the job now, or once more after the run that is under way; further calls share that one. */
  request(): Promise<void> {
    if (this.#running === undefined) {
      return this.#start();
    }
    this.#waiting ??= this.#running
      .catch(() => undefined)
      .then(() => {
        this.#waiting = undefined;
        return this.#start();
      });
    return this.#waiting;
  }

  #start(): Promise<void> {
    const run = this.job().finally(() => {
      if (this.#running === run) {
        this.#running = undefined;
      }
    });
    this.#running = run;
    return run;
  }
}
