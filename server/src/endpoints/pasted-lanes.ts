import { readPastedLanes } from '#contract/pasted-lanes.ts'
import { readPasted } from '../imports/index.ts'
import { serve } from './endpoint-call.ts'

export const pastedLanesEndpoint = serve(readPastedLanes, async ({ body }) => readPasted(body.text))
