<?php
declare(strict_types=1);

const TYPES = ['payout.paid', 'campaign.settled']; // as selected

/** Returns the event, or null if the request is not verified. */
function verified_event(string $body): ?array
{
    $timestamp = $_SERVER['HTTP_X_SERVICE_TIMESTAMP'] ?? '';
    $signature = $_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? '';
    if (!preg_match('/^[0-9]{1,12}$/D', $timestamp) || !preg_match('/^sha256=[0-9a-f]{64}$/D', $signature)) {
        return null;
    }
    if (abs(time() - (int) $timestamp) > 300) {
        return null;
    }
    foreach (explode(',', (string) getenv('WEBHOOK_SECRET')) as $secret) {
        $digest = 'sha256=' . hash_hmac('sha256', "$timestamp.$body", $secret);
        if (str_starts_with($secret, 'whsec_') && hash_equals($digest, $signature)) {
            $event = json_decode($body, true, flags: JSON_THROW_ON_ERROR);
            return $event['type'] === ($_SERVER['HTTP_X_SERVICE_EVENT'] ?? '') ? $event : null;
        }
    }
    return null;
}

function receive(): int
{
    $body = (string) file_get_contents('php://input', length: 65_537);
    if (strlen($body) > 65_536) {
        return 413;
    }
    $event = verified_event($body);
    if ($event === null) {
        return 401;
    }
    if (!in_array($event['type'], TYPES, true)) {
        return 422;
    }
    error_log("{$event['id']} {$event['type']} {$event['data']['id']}"); // store it here, once for each id; process it afterwards
    return 204;
}

http_response_code(receive());
