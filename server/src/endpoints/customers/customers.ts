import * as contract from '#contract/customers.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'
import { changeCustomer } from './change-customer.ts'
import { customerPage } from './customer-page.ts'
import { listCustomerVariants } from './customer-variants.ts'
import { decideCustomers } from './decide-customers.ts'
import { exportCustomers, listCustomers } from './list-customers.ts'
import { renameCustomer } from './rename-customer.ts'

export const customerEndpoints: ServedEndpoint[] = [
  serve(contract.listCustomers, listCustomers),
  serve(contract.exportCustomers, exportCustomers),
  serve(contract.getCustomer, customerPage),
  serve(contract.changeCustomer, changeCustomer),
  serve(contract.renameCustomer, renameCustomer),
  serve(contract.decideCustomers, decideCustomers),
  serve(contract.listCustomerVariants, listCustomerVariants),
]
