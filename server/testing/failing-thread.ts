throw new Error('A thread that fails.')
