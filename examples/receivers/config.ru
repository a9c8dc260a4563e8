require "json"
require "openssl"

SECRETS = ENV.fetch("WEBHOOK_SECRET").split(",").select { |secret| secret.start_with?("whsec_") }
TYPES = %w[payout.paid campaign.settled].freeze # as selected

# Returns the event, or nil if the request is not verified.
def verified_event(env, body)
  timestamp = env["HTTP_X_SERVICE_TIMESTAMP"].to_s
  signature = env["HTTP_X_SERVICE_SIGNATURE"].to_s
  return unless timestamp.match?(/\A[0-9]{1,12}\z/) && signature.match?(/\Asha256=[0-9a-f]{64}\z/)
  return if (Time.now.to_f - timestamp.to_i).abs > 300

  signed = "#{timestamp}.".b + body
  digests = SECRETS.map { |secret| "sha256=#{OpenSSL::HMAC.hexdigest("SHA256", secret, signed)}" }
  return unless digests.any? { |digest| OpenSSL.fixed_length_secure_compare(digest, signature) }

  event = JSON.parse(body)
  event if event["type"] == env["HTTP_X_SERVICE_EVENT"]
end

run(lambda do |env|
  body = env["rack.input"]&.read(65_537).to_s.b
  next [413, {}, []] if body.bytesize > 65_536

  event = verified_event(env, body)
  next [401, {}, []] if event.nil?
  next [422, {}, []] unless TYPES.include?(event["type"])

  puts "#{event["id"]} #{event["type"]} #{event["data"]["id"]}" # store it here, once for each id; process it afterwards
  [204, {}, []]
end)
