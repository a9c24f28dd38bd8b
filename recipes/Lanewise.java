import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * From sign-in to a booked margin, with only the JDK (17 or newer): java Lanewise.java. See docs/recipes.md.
 *
 * LANEWISE_URL, LANEWISE_EMAIL, LANEWISE_PASSWORD: the service, and the sign-in of an admin or owner
 * LANEWISE_LANE_REF: the lane_ref of the booked quote
 */
public class Lanewise {
  private static final HttpClient HTTP = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();
  private static final int TRIES = 5;

  public static void main(String[] args) throws Exception {
    if (args.length > 0 && args[0].equals("sign")) {
      // "Lanewise.java sign TIME FILE ..." only prints signatures, to compare them with the test vectors.
      for (int at = 1; at + 1 < args.length; at += 2) {
        System.out.println(signature(env("LANEWISE_SECRET"), args[at], Files.readAllBytes(Path.of(args[at + 1]))));
      }
      return;
    }
    // 1. An admin signs in and creates the two credentials. Only these responses have the plaintext.
    String who = "{\"email\":" + quoted(env("LANEWISE_EMAIL")) + ",\"password\":" + quoted(env("LANEWISE_PASSWORD")) + "}";
    String session = member(send(post("/api/auth/sign-in", null, who.getBytes(StandardCharsets.UTF_8))), "token");
    // The time makes the name unique: a brokerage can have at most two live secrets with the same name.
    String name = "{\"name\":\"Java recipe " + Instant.now() + "\"";
    byte[] scoped = (name + ",\"scope\":\"integrations:write quotes:write\"}").getBytes(StandardCharsets.UTF_8);
    String token = member(send(post("/api/integrations/tokens", session, scoped)), "token");
    byte[] named = (name + "}").getBytes(StandardCharsets.UTF_8);
    String secret = member(send(post("/api/integrations/secrets", session, named)), "secret");

    // 2. A signed update of the booking.
    String booking = "{\"lane_ref\":" + quoted(env("LANEWISE_LANE_REF")) + ",\"customer_rate\":2150,\"truck_cost\":1820.50}";
    System.out.println(send(signedPost("/api/integrations/tms/shipment-update", token, secret, booking, false)));

    // 3. Pricing advice and insight for the lane. Cache the responses for 5 and 15 minutes.
    String lane = "origin=" + encoded("Dallas, TX") + "&destination=" + encoded("Atlanta, GA") + "&equipment=V";
    System.out.println(send(get("/api/integrations/insights/markup?" + lane + "&proposed_rate=2150", token)));
    System.out.println(send(get("/api/integrations/insights/lane?" + lane, token)));

    // 4. A quote under your own id: up to 500 per call, each with its own result.
    String quote =
        "{\"quotes\":[{\"external_id\":\"RECIPE-1\",\"origin\":\"Dallas, TX\",\"destination\":\"Atlanta, GA\","
            + "\"equipment\":\"V\",\"quoted_rate\":2150,\"customer_name\":\"Harvest Table Foods\"}]}";
    System.out.println(send(signedPost("/api/integrations/quotes", token, secret, quote, true)));
  }

  /**
   * A signed request. The text is encoded once: the same bytes are signed and sent. The signature of shipment-update covers
   * the body only. All others cover the address, too.
   */
  private static HttpRequest.Builder signedPost(
      String path, String token, String secret, String json, boolean signsAddress) throws Exception {
    String timestamp = Long.toString(Instant.now().getEpochSecond());
    String address = signsAddress ? "POST " + path + "\n" : "";
    byte[] signed = (address + json).getBytes(StandardCharsets.UTF_8);
    return post(path, token, json.getBytes(StandardCharsets.UTF_8))
        .header("X-Service-Timestamp", timestamp)
        .header("X-Service-Signature", signature(secret, timestamp, signed));
  }

  /** HMAC-SHA256 of the time, a dot and exactly the bytes that are sent. The key is the complete secret as text. */
  static String signature(String secret, String timestamp, byte[] body) throws Exception {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
    mac.update((timestamp + ".").getBytes(StandardCharsets.UTF_8));
    return "sha256=" + HexFormat.of().formatHex(mac.doFinal(body));
  }

  /** Sends a request, with retries after 429, 503 and a lost connection. An unchanged update is safe to repeat. */
  private static String send(HttpRequest.Builder builder) throws Exception {
    HttpRequest request = builder.timeout(Duration.ofSeconds(15)).build();
    for (int attempt = 1; ; attempt++) {
      long waitMs = ThreadLocalRandom.current().nextLong(250L << attempt);
      try {
        HttpResponse<String> answer = HTTP.send(request, HttpResponse.BodyHandlers.ofString());
        if (answer.statusCode() < 300) return answer.body();
        if ((answer.statusCode() != 429 && answer.statusCode() != 503) || attempt == TRIES) {
          System.err.println(answer.body());
          System.exit(1);
        }
        waitMs += 1000 * answer.headers().firstValueAsLong("Retry-After").orElse(0);
      } catch (IOException cut) {
        if (attempt == TRIES) throw cut;
      }
      Thread.sleep(waitMs);
    }
  }

  private static HttpRequest.Builder post(String path, String token, byte[] body) {
    return get(path, token)
        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofByteArray(body));
  }

  private static HttpRequest.Builder get(String path, String token) {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(env("LANEWISE_URL") + path));
    return token == null ? request : request.header("Authorization", "Bearer " + token);
  }

  /** One text member of a flat JSON response. Use a JSON library if you have one. */
  private static String member(String json, String name) {
    Matcher found = Pattern.compile("\"" + name + "\":\"([^\"]*)\"").matcher(json);
    if (!found.find()) throw new IllegalStateException("The answer has no " + name + ".");
    return found.group(1);
  }

  private static String quoted(String text) {
    return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  private static String env(String name) {
    String value = System.getenv(name);
    if (value == null) throw new IllegalStateException("Set " + name + ".");
    return value;
  }
}
