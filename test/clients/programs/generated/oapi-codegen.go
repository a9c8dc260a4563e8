// An integrator's program with oapi-codegen's client. Prints what it reads as JSON.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"strings"
	"time"

	"example.com/brand-records/client"
	openapi_types "github.com/oapi-codegen/runtime/types"
)

type refusal struct {
	Status int    `json:"status"`
	Code   string `json:"code"`
}

type budget struct {
	Status         int     `json:"status"`
	PlanningBudget float64 `json:"planning_budget"`
}

var newEvent = map[string]func() any{
	"submission.approved": func() any { return new(client.SubmissionApprovedEvent) },
	"submission.rejected": func() any { return new(client.SubmissionRejectedEvent) },
	"payout.paid":         func() any { return new(client.PayoutPaidEvent) },
	"campaign.settled":    func() any { return new(client.CampaignSettledEvent) },
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func clientWith(key string) *client.ClientWithResponses {
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+key)
		return nil
	}
	return must(client.NewClientWithResponses(os.Getenv("BASE_URL"), client.WithRequestEditorFn(authorize)))
}

func readAll[T any](read func(cursor *string) ([]T, *string)) (found []T) {
	var cursor *string
	for {
		var data []T
		data, cursor = read(cursor)
		found = append(found, data...)
		if cursor == nil {
			return found
		}
	}
}

func readLists(ctx context.Context, reader *client.ClientWithResponses) map[string]any {
	limit := int32(20)
	return map[string]any{
		"campaigns": readAll(func(cursor *string) ([]client.Campaign, *string) {
			page := must(reader.ListCampaignsWithResponse(ctx, &client.ListCampaignsParams{Limit: &limit, Cursor: cursor})).JSON200
			return page.Data, page.NextCursor
		}),
		"submissions": readAll(func(cursor *string) ([]client.Submission, *string) {
			page := must(reader.ListSubmissionsWithResponse(ctx, &client.ListSubmissionsParams{Limit: &limit, Cursor: cursor})).JSON200
			return page.Data, page.NextCursor
		}),
		"payouts": readAll(func(cursor *string) ([]client.Payout, *string) {
			page := must(reader.ListPayoutsWithResponse(ctx, &client.ListPayoutsParams{Limit: &limit, Cursor: cursor})).JSON200
			return page.Data, page.NextCursor
		}),
		"deposits": readAll(func(cursor *string) ([]client.Deposit, *string) {
			page := must(reader.ListDepositsWithResponse(ctx, &client.ListDepositsParams{Limit: &limit, Cursor: cursor})).JSON200
			return page.Data, page.NextCursor
		}),
		"conversions": readAll(func(cursor *string) ([]client.Conversion, *string) {
			page := must(reader.ListConversionsWithResponse(ctx, &client.ListConversionsParams{Limit: &limit, Cursor: cursor})).JSON200
			return page.Data, page.NextCursor
		}),
		"links": readAll(func(cursor *string) ([]client.Link, *string) {
			page := must(reader.ListLinksWithResponse(ctx, &client.ListLinksParams{Limit: &limit, Cursor: cursor})).JSON200
			return page.Data, page.NextCursor
		}),
	}
}

func readEvents(file string) (events []any) {
	for line := range bytes.Lines(must(os.ReadFile(file))) {
		var named struct{ Type string }
		if err := json.Unmarshal(line, &named); err != nil {
			log.Fatal(err)
		}
		event := newEvent[named.Type]()
		if err := json.Unmarshal(line, event); err != nil {
			log.Fatal(err)
		}
		events = append(events, event)
	}
	return events
}

func day(year int, month time.Month, day int) openapi_types.Date {
	return openapi_types.Date{Time: time.Date(year, month, day, 0, 0, 0, 0, time.UTC)}
}

func prepare(ctx context.Context, planner *client.ClientWithResponses) []budget {
	plan := client.CampaignPlanInput{
		Title:          "Tag-ulan",
		Goal:           "500,000 views",
		CampaignType:   "blitz",
		PlannedFor:     day(2026, 12, 1),
		ReviewOn:       day(2026, 12, 15),
		PlanningBudget: 1234567.89,
	}
	if err := plan.RequestId.UnmarshalText([]byte(os.Getenv("REQUEST_ID"))); err != nil {
		log.Fatal(err)
	}
	first := must(planner.PrepareCampaignPlanWithResponse(ctx, plan))
	repeated := must(planner.PrepareCampaignPlanWithResponse(ctx, plan))
	return []budget{{first.StatusCode(), first.JSON201.PlanningBudget}, {repeated.StatusCode(), repeated.JSON200.PlanningBudget}}
}

func ping(ctx context.Context, reader *client.ClientWithResponses) int64 {
	message := client.RpcMessage{Jsonrpc: "2.0", Id: &client.RpcMessage_Id{}, Method: "ping"}
	if err := message.Id.FromRpcMessageId1(7); err != nil {
		log.Fatal(err)
	}
	response := must(reader.PostAssistantMessageWithResponse(ctx, &client.PostAssistantMessageParams{}, message))
	return must(response.JSON200.Id.AsRpcAnswerId1())
}

func main() {
	ctx := context.Background()
	reader := clientWith(os.Getenv("READING_KEY"))
	broken := strings.Repeat("x", 40)
	badCursor := must(reader.ListPayoutsWithResponse(ctx, &client.ListPayoutsParams{Cursor: &broken}))
	badKey := must(clientWith("none").ListPayoutsWithResponse(ctx, &client.ListPayoutsParams{}))
	results := map[string]any{
		"records": readLists(ctx, reader),
		"events":  readEvents(os.Getenv("EVENTS")),
		"refused": []refusal{{badCursor.StatusCode(), badCursor.JSON400.Error.Code}, {badKey.StatusCode(), badKey.JSON401.Error.Code}},
		"budgets": prepare(ctx, clientWith(os.Getenv("PLANNING_KEY"))),
		"ponged":  ping(ctx, reader),
	}
	if err := json.NewEncoder(os.Stdout).Encode(results); err != nil {
		log.Fatal(err)
	}
}
