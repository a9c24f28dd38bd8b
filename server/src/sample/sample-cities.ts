/**
 * A freight city of the sample brokerage.
 *
 * `volume` is its freight volume relative to the other cities. `pull` is its balance of trucks. Above zero it ships more than it
 * receives: trucks are scarce, so outbound costs more and inbound less. Below zero, the reverse is true.
 */
export interface SampleCity {
  readonly place: string
  readonly latitude: number
  readonly longitude: number
  readonly volume: number
  readonly pull: number
}

// place, latitude, longitude, volume, pull
const rows: readonly (readonly [string, number, number, number, number])[] = [
  ['Atlanta, GA', 33.749, -84.388, 10, 0.06],
  ['Savannah, GA', 32.0835, -81.0998, 5, 0.1],
  ['Macon, GA', 32.8407, -83.6324, 2, 0.02],
  ['Charlotte, NC', 35.2271, -80.8431, 6, 0.05],
  ['Greensboro, NC', 36.0726, -79.792, 4, 0.06],
  ['Raleigh, NC', 35.7796, -78.6382, 3, -0.04],
  ['Charleston, SC', 32.7765, -79.9311, 4, 0.07],
  ['Greenville, SC', 34.8526, -82.394, 4, 0.08],
  ['Jacksonville, FL', 30.3322, -81.6557, 5, -0.06],
  ['Orlando, FL', 28.5383, -81.3792, 4, -0.17],
  ['Tampa, FL', 27.9506, -82.4572, 4, -0.15],
  ['Miami, FL', 25.7617, -80.1918, 5, -0.22],
  ['Lakeland, FL', 28.0395, -81.9498, 4, -0.14],
  ['Birmingham, AL', 33.5186, -86.8104, 3, 0.09],
  ['Mobile, AL', 30.6954, -88.0399, 2, 0.03],
  ['Memphis, TN', 35.1495, -90.049, 7, 0.08],
  ['Nashville, TN', 36.1627, -86.7816, 5, 0.03],
  ['Knoxville, TN', 35.9606, -83.9207, 2, 0.02],
  ['Louisville, KY', 38.2527, -85.7585, 5, 0.08],
  ['Jackson, MS', 32.2988, -90.1848, 2, 0.02],
  ['New Orleans, LA', 29.9511, -90.0715, 3, -0.03],
  ['Baton Rouge, LA', 30.4515, -91.1871, 2, 0.05],
  ['Little Rock, AR', 34.7465, -92.2896, 3, 0.08],
  ['Dallas, TX', 32.7831, -96.8067, 10, 0.02],
  ['Fort Worth, TX', 32.7555, -97.3308, 6, 0.03],
  ['Houston, TX', 29.7604, -95.3698, 8, 0.03],
  ['San Antonio, TX', 29.4241, -98.4936, 4, -0.05],
  ['Laredo, TX', 27.5306, -99.4803, 7, 0.12],
  ['McAllen, TX', 26.2034, -98.23, 3, 0.08],
  ['El Paso, TX', 31.7619, -106.485, 4, 0.02],
  ['Oklahoma City, OK', 35.4676, -97.5164, 3, -0.03],
  ['Tulsa, OK', 36.154, -95.9928, 2, 0.02],
  ['Chicago, IL', 41.8781, -87.6298, 10, 0.12],
  ['Joliet, IL', 41.525, -88.0817, 6, 0.13],
  ['Indianapolis, IN', 39.7684, -86.1581, 7, 0.1],
  ['Fort Wayne, IN', 41.0793, -85.1394, 3, 0.09],
  ['Columbus, OH', 39.9612, -82.9988, 7, 0.08],
  ['Cleveland, OH', 41.4993, -81.6944, 4, 0.07],
  ['Cincinnati, OH', 39.1031, -84.512, 4, 0.07],
  ['Toledo, OH', 41.6528, -83.5379, 3, 0.09],
  ['Detroit, MI', 42.3314, -83.0458, 6, 0.06],
  ['Grand Rapids, MI', 42.9634, -85.6681, 4, 0.11],
  ['Milwaukee, WI', 43.0389, -87.9065, 4, 0.12],
  ['Green Bay, WI', 44.5133, -88.0133, 3, 0.14],
  ['Minneapolis, MN', 44.9778, -93.265, 5, 0.06],
  ['Des Moines, IA', 41.5868, -93.625, 3, 0.08],
  ['Omaha, NE', 41.2565, -95.9345, 3, 0.04],
  ['Kansas City, MO', 39.0997, -94.5786, 5, 0.04],
  ['St. Louis, MO', 38.627, -90.1994, 5, 0.06],
  ['Springfield, MO', 37.209, -93.2923, 2, 0.03],
  ['Wichita, KS', 37.6872, -97.3301, 2, 0.02],
  ['Fargo, ND', 46.8772, -96.7898, 1, -0.02],
  ['Pittsburgh, PA', 40.4406, -79.9959, 4, 0.02],
  ['Harrisburg, PA', 40.2732, -76.8867, 6, 0.05],
  ['Allentown, PA', 40.6023, -75.4714, 5, 0.03],
  ['Philadelphia, PA', 39.9526, -75.1652, 5, -0.07],
  ['Elizabeth, NJ', 40.664, -74.2107, 6, -0.03],
  ['Buffalo, NY', 42.8864, -78.8784, 3, 0.01],
  ['Albany, NY', 42.6526, -73.7562, 2, -0.08],
  ['Boston, MA', 42.3601, -71.0589, 4, -0.17],
  ['Hartford, CT', 41.7637, -72.6851, 2, -0.13],
  ['Portland, ME', 43.6591, -70.2568, 1, -0.1],
  ['Baltimore, MD', 39.2904, -76.6122, 4, -0.07],
  ['Richmond, VA', 37.5407, -77.436, 3, 0.01],
  ['Norfolk, VA', 36.8508, -76.2859, 3, 0.03],
  ['Denver, CO', 39.7392, -104.9903, 5, -0.2],
  ['Salt Lake City, UT', 40.7608, -111.891, 5, -0.02],
  ['Boise, ID', 43.615, -116.2023, 2, 0.02],
  ['Billings, MT', 45.7833, -108.5007, 1, -0.1],
  ['Albuquerque, NM', 35.0844, -106.6504, 2, -0.14],
  ['Phoenix, AZ', 33.4484, -112.074, 6, -0.1],
  ['Las Vegas, NV', 36.1699, -115.1398, 3, -0.13],
  ['Reno, NV', 39.5296, -119.8138, 3, 0.03],
  ['Los Angeles, CA', 34.0522, -118.2437, 9, 0.08],
  ['Ontario, CA', 34.0633, -117.6509, 8, 0.09],
  ['Fresno, CA', 36.7378, -119.7871, 4, 0.1],
  ['Stockton, CA', 37.9577, -121.2908, 5, 0.06],
  ['Salinas, CA', 36.6777, -121.6555, 3, 0.1],
  ['Portland, OR', 45.5152, -122.6784, 4, -0.04],
  ['Seattle, WA', 47.6062, -122.3321, 5, -0.12],
  ['Yakima, WA', 46.6021, -120.5059, 2, 0.06],
  ['Spokane, WA', 47.6588, -117.426, 2, -0.03],
  ['Toronto, ON', 43.6532, -79.3832, 5, -0.05],
  ['Montreal, QC', 45.5019, -73.5674, 3, -0.04],
  ['Calgary, AB', 51.0447, -114.0719, 2, -0.08],
  ['Monterrey, NL', 25.6866, -100.3161, 3, 0.08],
]

/** The freight cities of the sample brokerage: the United States, and a few of Canada and Mexico. */
export const sampleCities: readonly SampleCity[] = rows.map(([place, latitude, longitude, volume, pull]) => ({
  place,
  latitude,
  longitude,
  volume,
  pull,
}))

/**
 * The state of a `City, ST`.
 *
 * @example stateOf('Dallas, TX') // 'TX'
 */
export function stateOf(place: string): string {
  return place.slice(-2)
}
