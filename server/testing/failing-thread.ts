/** Stands in for a thread that cannot do its work. */
throw new Error('A thread that fails.')
