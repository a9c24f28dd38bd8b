/** A worker thread that fails at once. */
throw new Error('A thread that fails.')
