package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	types      = map[string]bool{"payout.paid": true, "campaign.settled": true} // as selected
	timestamps = regexp.MustCompile(`^[0-9]{1,12}$`)
	signatures = regexp.MustCompile(`^sha256=([0-9a-f]{64})$`)
)

type event struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Data struct {
		ID string `json:"id"`
	} `json:"data"`
}

// verified reports whether the request is signed by the service, and recent.
func verified(header http.Header, body []byte) bool {
	timestamp := header.Get("X-Service-Timestamp")
	signature := signatures.FindStringSubmatch(header.Get("X-Service-Signature"))
	if !timestamps.MatchString(timestamp) || signature == nil {
		return false
	}
	seconds, _ := strconv.ParseInt(timestamp, 10, 64)
	if time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return false
	}
	given, _ := hex.DecodeString(signature[1])
	for _, secret := range strings.Split(os.Getenv("WEBHOOK_SECRET"), ",") {
		digest := hmac.New(sha256.New, []byte(secret))
		fmt.Fprintf(digest, "%s.%s", timestamp, body)
		if strings.HasPrefix(secret, "whsec_") && hmac.Equal(given, digest.Sum(nil)) {
			return true
		}
	}
	return false
}

func receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 65_536))
	if err != nil {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	var got event
	if !verified(r.Header, body) || json.Unmarshal(body, &got) != nil || got.Type != r.Header.Get("X-Service-Event") {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if !types[got.Type] {
		w.WriteHeader(http.StatusUnprocessableEntity)
		return
	}
	log.Println(got.ID, got.Type, got.Data.ID) // store it here, once for each ID; process it afterwards
	w.WriteHeader(http.StatusNoContent)
}

func main() {
	port := os.Getenv("PORT")
	if port == "" {
		port = "8000"
	}
	server := &http.Server{Addr: ":" + port, Handler: http.HandlerFunc(receive), ReadTimeout: 15 * time.Second}
	log.Fatal(server.ListenAndServe())
}
