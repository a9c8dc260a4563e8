// An integrator's program with the generated client. Prints its results as JSON, with exact amounts as strings.
package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"

	"example.com/brand-records/client"
	openapi_types "github.com/oapi-codegen/runtime/types"
)

type payout struct {
	Id          string  `json:"id"`
	Amount      string  `json:"amount"`
	Status      string  `json:"status"`
	FailureCode *string `json:"failure_code"`
}

type refusal struct {
	Status int    `json:"status"`
	Code   string `json:"code"`
}

type budget struct {
	Status         int    `json:"status"`
	PlanningBudget string `json:"planning_budget"`
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

func readAll(ctx context.Context, reader *client.ClientWithResponses) (payouts []payout, pages int) {
	limit := int32(2)
	var cursor *string
	for {
		page := must(reader.ListPayoutsWithResponse(ctx, &client.ListPayoutsParams{Limit: &limit, Cursor: cursor})).JSON200
		pages++
		for _, each := range page.Data {
			payouts = append(payouts, payout{each.Id, strconv.FormatInt(each.AmountCentavos, 10), each.Status, each.FailureCode})
		}
		if cursor = page.NextCursor; cursor == nil {
			return payouts, pages
		}
	}
}

func day(year int, month time.Month, day int) openapi_types.Date {
	return openapi_types.Date{Time: time.Date(year, month, day, 0, 0, 0, 0, time.UTC)}
}

func prepare(ctx context.Context, planner *client.ClientWithResponses) (budgets []budget) {
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
	for _, response := range []struct {
		status int
		plan   *client.CampaignPlan
	}{{first.StatusCode(), first.JSON201}, {repeated.StatusCode(), repeated.JSON200}} {
		budgets = append(budgets, budget{response.status, strconv.FormatFloat(response.plan.PlanningBudget, 'f', -1, 64)})
	}
	return budgets
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
	payouts, pages := readAll(ctx, reader)

	broken := "x"
	badCursor := must(reader.ListPayoutsWithResponse(ctx, &client.ListPayoutsParams{Cursor: &broken}))
	badKey := must(clientWith("none").ListPayoutsWithResponse(ctx, &client.ListPayoutsParams{}))
	refused := []refusal{
		{badCursor.StatusCode(), badCursor.JSON400.Error.Code},
		{badKey.StatusCode(), badKey.JSON401.Error.Code},
	}

	results := map[string]any{
		"pages":   pages,
		"payouts": payouts,
		"refused": refused,
		"budgets": prepare(ctx, clientWith(os.Getenv("PLANNING_KEY"))),
		"ponged":  ping(ctx, reader),
	}
	if err := json.NewEncoder(os.Stdout).Encode(results); err != nil {
		log.Fatal(err)
	}
}
