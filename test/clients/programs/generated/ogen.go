// An integrator's program with ogen's client. Prints what it reads as JSON.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"log"
	"os"
	"reflect"
	"strings"
	"time"

	"example.com/brand-records/client"
	"github.com/google/uuid"
)

type refusal struct {
	Status int    `json:"status"`
	Code   string `json:"code"`
}

type budget struct {
	Status         int     `json:"status"`
	PlanningBudget float64 `json:"planning_budget"`
}

type event interface {
	UnmarshalJSON([]byte) error
	Validate() error
}

var newEvent = map[string]func() event{
	"submission.approved": func() event { return new(client.SubmissionApprovedEvent) },
	"submission.rejected": func() event { return new(client.SubmissionRejectedEvent) },
	"payout.paid":         func() event { return new(client.PayoutPaidEvent) },
	"campaign.settled":    func() event { return new(client.CampaignSettledEvent) },
}

type key string

func (key key) ApiKey(context.Context, client.OperationName) (client.ApiKey, error) {
	return client.ApiKey{Token: string(key)}, nil
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func clientWith(key key) *client.Client {
	return must(client.NewClient(os.Getenv("BASE_URL"), key))
}

// fields returns what a generated type holds, for encoding/json: ogen's own encoder omits the fractions of seconds.
func fields(value reflect.Value) any {
	if _, isTime := value.Interface().(time.Time); isTime || value.Kind() != reflect.Struct {
		return value.Interface()
	}
	if null := value.FieldByName("Null"); null.IsValid() {
		if null.Bool() {
			return nil
		}
		return fields(value.FieldByName("Value"))
	}
	named := map[string]any{}
	for index := range value.NumField() {
		name, _, _ := strings.Cut(value.Type().Field(index).Tag.Get("json"), ",")
		named[name] = fields(value.Field(index))
	}
	return named
}

func readAll[T any](read func(cursor client.OptString) ([]T, client.OptString)) (found []any) {
	cursor := client.OptString{}
	for {
		var data []T
		data, cursor = read(cursor)
		for _, record := range data {
			found = append(found, fields(reflect.ValueOf(record)))
		}
		if !cursor.Set {
			return found
		}
	}
}

func readLists(ctx context.Context, reader *client.Client) map[string]any {
	limit := client.NewOptInt32(20)
	return map[string]any{
		"campaigns": readAll(func(cursor client.OptString) ([]client.Campaign, client.OptString) {
			page := must(reader.ListCampaigns(ctx, client.ListCampaignsParams{Limit: limit, Cursor: cursor})).(*client.CampaignListHeaders)
			return page.Response.Data, page.Response.NextCursor
		}),
		"submissions": readAll(func(cursor client.OptString) ([]client.Submission, client.OptString) {
			page := must(reader.ListSubmissions(ctx, client.ListSubmissionsParams{Limit: limit, Cursor: cursor})).(*client.SubmissionListHeaders)
			return page.Response.Data, page.Response.NextCursor
		}),
		"payouts": readAll(func(cursor client.OptString) ([]client.Payout, client.OptString) {
			page := must(reader.ListPayouts(ctx, client.ListPayoutsParams{Limit: limit, Cursor: cursor})).(*client.PayoutListHeaders)
			return page.Response.Data, page.Response.NextCursor
		}),
		"deposits": readAll(func(cursor client.OptString) ([]client.Deposit, client.OptString) {
			page := must(reader.ListDeposits(ctx, client.ListDepositsParams{Limit: limit, Cursor: cursor})).(*client.DepositListHeaders)
			return page.Response.Data, page.Response.NextCursor
		}),
		"conversions": readAll(func(cursor client.OptString) ([]client.Conversion, client.OptString) {
			page := must(reader.ListConversions(ctx, client.ListConversionsParams{Limit: limit, Cursor: cursor})).(*client.ConversionListHeaders)
			return page.Response.Data, page.Response.NextCursor
		}),
		"links": readAll(func(cursor client.OptString) ([]client.Link, client.OptString) {
			page := must(reader.ListLinks(ctx, client.ListLinksParams{Limit: limit, Cursor: cursor})).(*client.LinkListHeaders)
			return page.Response.Data, page.Response.NextCursor
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
		if err := event.UnmarshalJSON(line); err != nil {
			log.Fatal(err)
		}
		if err := event.Validate(); err != nil {
			log.Fatal(err)
		}
		events = append(events, fields(reflect.ValueOf(event).Elem()))
	}
	return events
}

func prepare(ctx context.Context, planner *client.Client) []budget {
	plan := &client.CampaignPlanInput{
		RequestID:      must(uuid.Parse(os.Getenv("REQUEST_ID"))),
		Title:          "Tag-ulan",
		Goal:           "500,000 views",
		CampaignType:   client.CampaignPlanInputCampaignTypeBlitz,
		PlannedFor:     time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC),
		ReviewOn:       time.Date(2026, 12, 15, 0, 0, 0, 0, time.UTC),
		PlanningBudget: 1234567.89,
	}
	first := must(planner.PrepareCampaignPlan(ctx, plan)).(*client.PrepareCampaignPlanCreatedHeaders)
	repeated := must(planner.PrepareCampaignPlan(ctx, plan)).(*client.CampaignPlanHeaders)
	return []budget{{201, first.Response.PlanningBudget}, {200, repeated.Response.PlanningBudget}}
}

func ping(ctx context.Context, reader *client.Client) int64 {
	message := &client.RpcMessage{Jsonrpc: "2.0", ID: client.NewOptRpcMessageID(client.NewInt64RpcMessageID(7)), Method: "ping"}
	answer := must(reader.PostAssistantMessage(ctx, message, client.PostAssistantMessageParams{})).(*client.PostAssistantMessageOK)
	return answer.Response.ID.Int64
}

func main() {
	ctx := context.Background()
	reader := clientWith(key(os.Getenv("READING_KEY")))
	badCursor := must(reader.ListPayouts(ctx, client.ListPayoutsParams{Cursor: client.NewOptString(strings.Repeat("x", 40))})).(*client.Error400Headers)
	badKey := must(clientWith("none").ListPayouts(ctx, client.ListPayoutsParams{})).(*client.Error401Headers)
	results := map[string]any{
		"records": readLists(ctx, reader),
		"events":  readEvents(os.Getenv("EVENTS")),
		"refused": []refusal{{400, badCursor.Response.Error.Code}, {401, badKey.Response.Error.Code}},
		"budgets": prepare(ctx, clientWith(key(os.Getenv("PLANNING_KEY")))),
		"ponged":  ping(ctx, reader),
	}
	if err := json.NewEncoder(os.Stdout).Encode(results); err != nil {
		log.Fatal(err)
	}
}
