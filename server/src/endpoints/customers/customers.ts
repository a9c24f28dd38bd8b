import {
  changeCustomer,
  decideCustomers,
  exportCustomers,
  getCustomer,
  listCustomers,
  listCustomerVariants,
  renameCustomer,
} from '#contract/customers.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'
import { changedCustomer } from './change-customer.ts'
import { customerPage } from './customer-page.ts'
import { customerVariants } from './customer-variants.ts'
import { decidedCustomer } from './decide-customers.ts'
import { exportedCustomers, listedCustomers } from './list-customers.ts'
import { renamedCustomer } from './rename-customer.ts'

export const customerEndpoints: ServedEndpoint[] = [
  serve(listCustomers, listedCustomers),
  serve(exportCustomers, async (call, parts) => exportedCustomers(call, parts)),
  serve(getCustomer, customerPage),
  serve(changeCustomer, changedCustomer),
  serve(renameCustomer, renamedCustomer),
  serve(decideCustomers, decidedCustomer),
  serve(listCustomerVariants, customerVariants),
]
