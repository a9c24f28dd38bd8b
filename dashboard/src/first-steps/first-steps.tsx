import { Button } from '@mantine/core'
import { Page } from '../shared-ui/index.ts'
import { useStartHidden } from '../shell/index.ts'
import { Steps } from '../steps/index.ts'
import { firstSteps } from './first-steps-list.ts'

/** The steps from sign-up to quotes with good advice. */
export default function FirstStepsPage() {
  return (
    <Page title="Get started" hint="From your past quotes to the first advice." actions={<HideButton />}>
      <Steps steps={firstSteps} whenDone="All done. This page is no longer in the menu." />
    </Page>
  )
}

function HideButton() {
  const [isHidden, setHidden] = useStartHidden()
  return (
    <Button variant="default" onClick={() => setHidden(!isHidden)}>
      {isHidden ? 'Show in menu' : 'Hide from menu'}
    </Button>
  )
}
