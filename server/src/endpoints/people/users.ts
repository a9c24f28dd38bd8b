import * as contract from '#contract/users.ts'
import { people } from '../../database/queries/index.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'
import { changePerson } from './change-person.ts'
import { invitePerson } from './invite-person.ts'
import { removePerson } from './remove-person.ts'
import { userAnswer } from './sessions.ts'

export const userEndpoints: ServedEndpoint[] = [
  serve(contract.listUsers, async ({ caller }, { database }) => ({
    users: (
      await database.inTenant(caller.tenant, (transaction) => people.listUsers(transaction, caller.tenant))
    ).map(userAnswer),
  })),

  serve(contract.inviteUser, invitePerson),

  serve(contract.updateUser, changePerson),

  serve(contract.removeUser, removePerson),
]
