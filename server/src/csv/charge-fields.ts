export interface ImportField {
  readonly description: string
  /** Other known names for the field. */
  readonly aliases: readonly string[]
}

/** The fields for the basis of a row's amounts and for their charges. */
export const chargeFields = {
  quoted_basis: {
    description:
      'what the quoted rate includes, and the customer rate without a basis of its own: linehaul or all_in',
    aliases: ['Rate Basis', 'Quote Basis', 'Basis', 'Rate Includes'],
  },
  quoted_fuel: {
    description:
      'the fuel charge of the quoted rate; in a file without charges of the quoted rate, that of the customer rate',
    aliases: ['Quoted Fuel Surcharge', 'Quote Fuel Surcharge', 'Quoted FSC', 'Quote FSC'],
  },
  quoted_accessorials: {
    description:
      'the accessorial charges of the quoted rate; in a file without charges of the quoted rate, those of the customer rate',
    aliases: ['Quoted Accessorial Charges', 'Quote Accessorials'],
  },
  customer_basis: {
    description: 'what the customer rate includes: linehaul or all_in',
    aliases: ['Customer Rate Basis', 'Revenue Basis', 'AR Basis', 'Sell Basis'],
  },
  customer_fuel: {
    description: 'the fuel charge that the customer pays',
    aliases: [
      'Fuel',
      'FSC',
      'Fuel Surcharge',
      'Fuel Charge',
      'Fuel Amount',
      'Fuel Revenue',
      'Customer FSC',
      'Customer Fuel Surcharge',
      'Customer Fuel Charge',
      'AR Fuel',
      'AR FSC',
    ],
  },
  customer_accessorials: {
    description: 'the accessorial charges that the customer pays',
    aliases: [
      'Accessorials',
      'Accessorial Charges',
      'Accessorial Amount',
      'Accessorial Revenue',
      'Customer Accessorial Charges',
      'AR Accessorials',
    ],
  },
  truck_basis: {
    description: 'what the truck cost includes: linehaul or all_in',
    aliases: ['Truck Cost Basis', 'Cost Basis', 'Carrier Basis', 'AP Basis', 'Buy Basis'],
  },
  truck_fuel: {
    description: 'the fuel charge that the carrier is paid',
    aliases: [
      'Carrier Fuel',
      'Carrier FSC',
      'Carrier Fuel Surcharge',
      'Carrier Fuel Charge',
      'Fuel Cost',
      'AP Fuel',
      'AP FSC',
    ],
  },
  truck_accessorials: {
    description: 'the accessorial charges that the carrier is paid',
    aliases: ['Carrier Accessorials', 'Carrier Accessorial Charges', 'Accessorial Cost', 'AP Accessorials'],
  },
  quoted_charges: {
    description: 'accessorial charges of the quoted rate by name, such as "detention 75; lumper 120"',
    aliases: ['Quote Charges'],
  },
  quoted_currency: {
    description:
      'USD or CAD: the currency of the quoted rate, and of the other amounts without a currency of their own',
    aliases: [
      'Currency',
      'Currency Code',
      'Currency Type',
      'Rate Currency',
      'Quote Currency',
      'Curr',
      'Cur',
      'Ccy',
      'Moneda',
      'Devise',
    ],
  },
  customer_charges: {
    description: 'accessorial charges of the customer by name, such as "detention 75; lumper 120"',
    aliases: ['Accessorial Detail', 'Accessorial Details', 'AR Charges'],
  },
  customer_currency: {
    description: 'USD or CAD: the currency of the customer rate',
    aliases: ['Revenue Currency', 'AR Currency', 'Billing Currency', 'Invoice Currency'],
  },
  truck_charges: {
    description: 'accessorial charges of the carrier by name, such as "detention 75; lumper 120"',
    aliases: ['AP Charges', 'Carrier Accessorial Detail'],
  },
  truck_currency: {
    description: 'USD or CAD: the currency of the truck cost',
    aliases: ['Cost Currency', 'Carrier Currency', 'AP Currency', 'Pay Currency'],
  },
} as const satisfies Record<string, ImportField>
