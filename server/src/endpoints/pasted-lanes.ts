import { readPastedLanes } from '#contract/pasted-lanes.ts'
import { readPasted } from '../imports/pasted-lanes.ts'
import { serve } from './parts.ts'

export const pastedLanesEndpoint = serve(readPastedLanes, async ({ body }) => readPasted(body.text))
