import brandrecords.ApiClient;
import brandrecords.ApiException;
import brandrecords.api.AssistantsApi;
import brandrecords.api.AssistantsApi.APIPostAssistantMessageRequest;
import brandrecords.api.CampaignPlansApi;
import brandrecords.api.CampaignPlansApi.APIPrepareCampaignPlanRequest;
import brandrecords.api.RecordsApi;
import brandrecords.api.RecordsApi.*;
import brandrecords.model.*;
import brandrecords.model.Error;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;

/** An integrator's program with openapi-generator's client for Java. Prints what it reads as JSON. */
public final class OpenapiGenerator {
  private static final ObjectMapper JSON = ApiClient.createDefaultObjectMapper();
  private static final int LIMIT = 20;
  private static final Map<String, Class<?>> EVENTS =
      Map.of(
          "submission.approved", SubmissionApprovedEvent.class,
          "submission.rejected", SubmissionRejectedEvent.class,
          "payout.paid", PayoutPaidEvent.class,
          "campaign.settled", CampaignSettledEvent.class);

  private interface Pages<P> {
    P read(String cursor) throws ApiException;
  }

  private static ApiClient clientWith(String key) {
    var client = new ApiClient();
    client.updateBaseUri(System.getenv("BASE_URL"));
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + key));
    return client;
  }

  private static <P> List<Object> readAll(Pages<P> pages, Function<P, List<?>> data, Function<P, String> nextCursor)
      throws ApiException {
    var found = new ArrayList<Object>();
    String cursor = null;
    do {
      var page = pages.read(cursor);
      found.addAll(data.apply(page));
      cursor = nextCursor.apply(page);
    } while (cursor != null);
    return found;
  }

  private static Map<String, Object> readLists(RecordsApi api) throws ApiException {
    return Map.of(
        "campaigns",
        readAll(
            cursor -> api.listCampaigns(APIListCampaignsRequest.newBuilder().limit(LIMIT).cursor(cursor).build()),
            CampaignList::getData,
            CampaignList::getNextCursor),
        "submissions",
        readAll(
            cursor -> api.listSubmissions(APIListSubmissionsRequest.newBuilder().limit(LIMIT).cursor(cursor).build()),
            SubmissionList::getData,
            SubmissionList::getNextCursor),
        "payouts",
        readAll(
            cursor -> api.listPayouts(APIListPayoutsRequest.newBuilder().limit(LIMIT).cursor(cursor).build()),
            PayoutList::getData,
            PayoutList::getNextCursor),
        "deposits",
        readAll(
            cursor -> api.listDeposits(APIListDepositsRequest.newBuilder().limit(LIMIT).cursor(cursor).build()),
            DepositList::getData,
            DepositList::getNextCursor),
        "conversions",
        readAll(
            cursor -> api.listConversions(APIListConversionsRequest.newBuilder().limit(LIMIT).cursor(cursor).build()),
            ConversionList::getData,
            ConversionList::getNextCursor),
        "links",
        readAll(
            cursor -> api.listLinks(APIListLinksRequest.newBuilder().limit(LIMIT).cursor(cursor).build()),
            LinkList::getData,
            LinkList::getNextCursor));
  }

  private static List<Object> readEvents(Path file) throws IOException {
    var events = new ArrayList<Object>();
    for (var line : Files.readAllLines(file)) {
      events.add(JSON.readValue(line, EVENTS.get(JSON.readTree(line).get("type").asText())));
    }
    return events;
  }

  private static Map<String, Object> refusal(String key, String cursor) throws IOException {
    try {
      new RecordsApi(clientWith(key)).listPayouts(APIListPayoutsRequest.newBuilder().cursor(cursor).build());
      throw new IllegalStateException("not refused");
    } catch (ApiException error) {
      var body = JSON.readValue(error.getResponseBody(), Error.class);
      return Map.of("status", error.getCode(), "code", body.getError().getCode());
    }
  }

  private static List<Object> prepare(CampaignPlansApi api) throws ApiException {
    var plan =
        new CampaignPlanInput()
            .requestId(UUID.fromString(System.getenv("REQUEST_ID")))
            .title("Tag-ulan")
            .goal("500,000 views")
            .campaignType(CampaignPlanInput.CampaignTypeEnum.BLITZ)
            .plannedFor(LocalDate.of(2026, 12, 1))
            .reviewOn(LocalDate.of(2026, 12, 15))
            .planningBudget(1234567.89);
    var budgets = new ArrayList<Object>();
    for (var attempt = 1; attempt <= 2; attempt++) {
      var response =
          api.prepareCampaignPlanWithHttpInfo(APIPrepareCampaignPlanRequest.newBuilder().campaignPlanInput(plan).build());
      budgets.add(
          Map.of("status", response.getStatusCode(), "planning_budget", response.getData().getPlanningBudget()));
    }
    return budgets;
  }

  private static Object ping(AssistantsApi api) throws ApiException {
    var message =
        new RpcMessage().jsonrpc(RpcMessage.JsonrpcEnum._2_0).id(new RpcMessageId(7L)).method("ping");
    return api.postAssistantMessage(APIPostAssistantMessageRequest.newBuilder().rpcMessage(message).build())
        .getId()
        .getActualInstance();
  }

  public static void main(String[] args) throws Exception {
    var key = System.getenv("READING_KEY");
    var results =
        Map.of(
            "records", readLists(new RecordsApi(clientWith(key))),
            "events", readEvents(Path.of(System.getenv("EVENTS"))),
            "refused", List.of(refusal(key, "x".repeat(40)), refusal("none", null)),
            "budgets", prepare(new CampaignPlansApi(clientWith(System.getenv("PLANNING_KEY")))),
            "ponged", ping(new AssistantsApi(clientWith(key))));
    JSON.writeValue(System.out, results);
  }
}
