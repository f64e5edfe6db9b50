/** Items that are put in at one end and iterated at the other. */
export class Queue<T> implements AsyncIterableIterator<T> {
	private items: T[] = [];
	private waiting: { resolve: (step: IteratorResult<T>) => void; reject: (error: unknown) => void }[] = [];
	private over = false;
	private error: unknown;

	/** `left` is called when the reader leaves its loop. */
	constructor(private readonly left: () => void = () => undefined) {}

	put(item: T): void {
		if (this.over) return;
		const reader = this.waiting.shift();
		if (reader) reader.resolve({ value: item, done: false });
		else this.items.push(item);
	}

	/** Nothing follows; with an error, the reader gets it after the items. */
	end(error?: unknown): void {
		if (this.over) return;
		this.over = true;
		this.error = error;
		for (const reader of this.waiting.splice(0)) void this.next().then(reader.resolve, reader.reject);
	}

	next(): Promise<IteratorResult<T>> {
		if (this.items.length > 0) return Promise.resolve({ value: this.items.shift()!, done: false });
		if (!this.over) return new Promise((resolve, reject) => this.waiting.push({ resolve, reject }));
		const error = this.error;
		this.error = undefined;
		return error === undefined ? Promise.resolve({ value: undefined, done: true }) : Promise.reject(error);
	}

	return(): Promise<IteratorResult<T>> {
		this.items = [];
		this.end();
		this.left();
		return Promise.resolve({ value: undefined, done: true });
	}

	[Symbol.asyncIterator](): this {
		return this;
	}
}
