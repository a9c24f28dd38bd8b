import { Button } from '@mantine/core'
import { pagePaths } from '#contract/pages.ts'
import { Nothing } from '../parts/states.tsx'

export function NoSuchPage() {
  return (
    <main>
      <Nothing
        title="There is no page at this address"
        actions={
          <Button component="a" href={pagePaths.desk}>
            To the quote desk
          </Button>
        }
      >
        It may have been mistyped, or moved.
      </Nothing>
    </main>
  )
}
