const list = (names: string): readonly string[] => names.split(', ')

/** The names of columns in Spanish and French, by field. Accents, case and spaces do not matter. */
export const foreignHeaders = {
  origin: list('Origen, Lugar de origen, Lugar de carga, Origine, Lieu de chargement, Lieu de ramassage'),
  origin_city: list("Ciudad origen, Ciudad de origen, Ville origine, Ville d'origine, Ville de ramassage"),
  origin_state: list(
    "Estado origen, Estado de origen, Provincia de origen, Province d'origine, État d'origine",
  ),
  origin_zip: list("CP origen, Código postal de origen, Code postal d'origine, CP origine"),
  destination: list('Destino, Lugar de destino, Lugar de entrega, Lieu de livraison'),
  destination_city: list('Ciudad destino, Ciudad de destino, Ville de destination, Ville de livraison'),
  destination_state: list(
    'Estado destino, Estado de destino, Provincia de destino, Province de destination, État de destination',
  ),
  destination_zip: list('CP destino, Código postal de destino, Code postal de destination, CP destination'),
  equipment: list(
    "Equipo, Tipo de equipo, Tipo de unidad, Tipo de camión, Remolque, Équipement, Type d'équipement, Type de remorque, Remorque",
  ),
  quoted_rate: list(
    'Cotización, Tarifa cotizada, Precio cotizado, Importe cotizado, Monto cotizado, Soumission, Tarif soumis, Prix soumis, Montant soumis, Tarif proposé, Prix proposé',
  ),
  customer_rate: list(
    'Tarifa cliente, Tarifa del cliente, Tarifa de venta, Precio de venta, Ingreso, Tarif client, Prix client, Prix de vente, Tarif de vente, Revenu',
  ),
  truck_cost: list(
    'Costo transportista, Costo del transportista, Tarifa transportista, Tarifa de compra, Pago transportista, Coût transporteur, Coût du transporteur, Tarif transporteur, Prix transporteur',
  ),
  estimated_cost: list('Costo estimado, Coste estimado, Coût estimé, Coût prévu'),
  market_rate: list('Tarifa de mercado, Precio de mercado, Tarif du marché, Prix du marché'),
  miles: list('Millas, Millaje, Milles'),
  customer_name: list('Cliente, Nombre del cliente, Nom du client, Expéditeur'),
  carrier_name: list('Transportista, Nombre del transportista, Transporteur, Nom du transporteur'),
  outcome: list(
    'Estatus, Estatus de cotización, Estado de la cotización, Resultado, Statut, Statut de la soumission, Résultat',
  ),
  outcome_reason: list('Motivo, Razón, Motivo de pérdida, Raison, Motif, Raison de la perte'),
  quoted_at: list(
    'Fecha de cotización, Fecha cotización, Fecha cotizada, Fecha de solicitud, Date de soumission, Date de la soumission, Date de cotation, Date de la demande',
  ),
  decided_at: list('Fecha de decisión, Fecha de respuesta, Date de décision, Date de réponse'),
  booked_at: list('Fecha de reserva, Fecha de adjudicación, Date de réservation'),
  pickup_date: list(
    'Fecha de recolección, Fecha de carga, Fecha de recogida, Date de ramassage, Date de chargement, Date de cueillette',
  ),
  rep_name: list('Vendedor, Ejecutivo, Representante, Cotizado por, Vendeur, Représentant, Soumis par'),
  reference: list(
    'Folio, Número de cotización, No de cotización, Número de carga, No de carga, Referencia, Numéro de soumission, No de soumission, Numéro de charge, Numéro de commande',
  ),
} as const

/** Spanish and French names that are as ambiguous as an English one. */
export const foreignMeanings: Readonly<Record<string, readonly string[]>> = {
  Rate: list('Tarifa, Flete, Tarif, Taux'),
  Price: list('Precio, Prix'),
  Amount: list('Importe, Monto, Montant'),
  Cost: list('Costo, Coste, Coût'),
  Date: list('Fecha'),
  Pickup: list('Recolección, Recogida, Ramassage, Cueillette'),
  Delivery: list('Entrega, Livraison'),
  Type: list('Tipo'),
  City: list('Ciudad, Ville'),
  'Postal Code': list('Código postal, Code postal, CP'),
  Province: list('Provincia'),
  Lane: list('Ruta, Trajet'),
  Cancelled: list('Cancelado, Cancelada, Annulé, Annulée'),
}
