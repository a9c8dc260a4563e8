import socket
import ssl
from typing import Any, Literal

import httpx

from .generated.api import ProblemDetail, ServiceErrorCode

ErrorCode = ServiceErrorCode | Literal["no_response", "unexpected_response", "wrong_brand"]
UNKNOWN_HOST = (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME))  # Not EAI_AGAIN, which passes.
NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST")


class BrandRecordsError(Exception):
    """Every failure of a request. Decide by `code`; the message is for people."""

    code: ErrorCode
    status: int | None = None  # HTTP status; None if no response came
    field: str | None = None  # the parameter or field that is wrong; the first if there are several
    details: list[ProblemDetail]  # every wrong field, if the service lists them
    docs_url: str | None = None  # the service's page about the code
    request_id: str | None = None  # quote it to support
    retry_after: float | None = None  # seconds, if the service names a time
    brand_id: str | None = None  # of the key that was sent, if the response names it
    attempts: int = 1  # how often the request was sent
    plan_request_id: str | None = None  # from prepare_campaign_plan: send it with the same input, and there is still one plan
    is_temporary: bool  # whether the same request may succeed later without anyone's doing

    # All but the message have defaults: what is unpickled, as by multiprocessing, is made from its message.
    def __init__(self, message: str, code: str = "unexpected_response", **fields: Any) -> None:
        super().__init__(message)
        self.__dict__.update({"details": [], **fields, "code": code})
        self.is_temporary = code == "no_response" or self.status in (408, 429) or (self.status or 0) >= 500


def advice_for(error: BaseException | None, url: httpx.URL) -> str | None:
    """Returns what to do about a failed request that repetitions do not change; None if it may pass."""
    cause = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return "is url right? If the certificate's authority is your own, name its file in SSL_CERT_FILE"
        if isinstance(cause, ssl.SSLError) and cause.reason in NO_TLS:
            return "what listens there speaks no TLS: must url begin with http://?"
        if isinstance(cause, socket.gaierror) and cause.errno in UNKNOWN_HOST:
            return "there is no such host: is url right?"
        if isinstance(cause, ConnectionRefusedError):
            return "nothing listens there: is url right, and does the service run?"
        cause = cause.__cause__ or cause.__context__
    # A server of https ends connections of http without a response.
    is_ended = url.scheme == "http" and isinstance(error, (httpx.NetworkError, httpx.RemoteProtocolError))
    return "what listens there speaks TLS: url must begin with https://" if is_ended and _speaks_tls(url) else None


def _speaks_tls(url: httpx.URL) -> bool:
    try:
        httpx.head(url.copy_with(scheme="https"), timeout=0.5)
    except httpx.HTTPError as error:
        return "CERTIFICATE_VERIFY_FAILED" in str(error)
    return True
