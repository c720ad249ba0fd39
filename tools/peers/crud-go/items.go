package main

import (
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxBody is the longest request body, in bytes.
	maxBody = 64 << 10
	// A list has at most mostListed items, found among mostLooked.
	mostListed, mostLooked = 10, 1000
	// tokenLife is how long a token says that it is valid.
	tokenLife = time.Hour
)

// item is what a client sees. Texts that its request did not have are left out.
type item struct {
	ID    string  `json:"id"`
	Sku   *string `json:"sku,omitempty"`
	Owner *string `json:"owner,omitempty"`
	Rev   int64   `json:"rev"`
}

// items is the service, and what it counts.
type items struct {
	journal *journal
	open    atomic.Int64
	mutex   sync.Mutex
	of      map[string]item
	counts  counts
}

// counts are those of `volley serve`.
type counts struct {
	Created    int64  `json:"created"`
	Read       int64  `json:"read"`
	Patched    int64  `json:"patched"`
	Deleted    int64  `json:"deleted"`
	Live       int64  `json:"live"`
	Duplicates int64  `json:"duplicates"`
	PatchHash  uint64 `json:"patch_hash"`
	Tokens     int64  `json:"tokens"`
	// Open is the number of requests and calls under way.
	Open int64 `json:"open"`
	// Calls and Messages are the calls of the shop that ended, and the replies in them.
	Calls    int64 `json:"calls"`
	Messages int64 `json:"messages"`
}

func newItems(journal *journal) *items {
	return &items{journal: journal, of: map[string]item{}}
}

// line is the counts so far, without those of the shop.
func (s *items) line() counts {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	line := s.counts
	line.Live, line.Open = int64(len(s.of)), s.open.Load()
	return line
}

// answer is what a request gets.
type answer struct {
	status   int
	location string
	// body becomes JSON; nil: there is none.
	body any
}

// failure is an answer that says what is wrong.
func failure(status int, words string) answer {
	return answer{status: status, body: map[string]string{"error": words}}
}

var absent = failure(http.StatusNotFound, "there is no such item or path")

// handler serves all routes.
func (s *items) handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, act := range map[string]func(*http.Request, []byte) answer{
		"POST /v1/items":        s.create,
		"GET /v1/items":         s.list,
		"GET /v1/items/{id}":    s.read,
		"PATCH /v1/items/{id}":  s.patch,
		"DELETE /v1/items/{id}": s.remove,
		"GET /v1/stock/{sku}":   stock,
		"POST /oauth/token":     s.token,
		"/":                     func(*http.Request, []byte) answer { return absent },
	} {
		mux.HandleFunc(pattern, func(out http.ResponseWriter, request *http.Request) {
			s.serve(out, request, act)
		})
	}
	return mux
}

// serve reads a request whole, and answers it with what act returns.
func (s *items) serve(
	out http.ResponseWriter, request *http.Request, act func(*http.Request, []byte) answer,
) {
	s.open.Add(1)
	defer s.open.Add(-1)
	body, err := io.ReadAll(http.MaxBytesReader(out, request.Body, maxBody))
	var tooLong *http.MaxBytesError
	var answer answer
	switch {
	case errors.As(err, &tooLong):
		answer = failure(http.StatusRequestEntityTooLarge, "a body may have 65536 bytes")
	case err != nil:
		return // the client is gone
	default:
		s.journal.note(request, crc32.ChecksumIEEE(body))
		answer = act(request, body)
	}
	if answer.location != "" {
		out.Header().Set("Location", answer.location)
	}
	if answer.body == nil {
		out.WriteHeader(answer.status)
		return
	}
	text, err := json.Marshal(answer.body)
	if err != nil {
		http.Error(out, err.Error(), http.StatusInternalServerError)
		return
	}
	out.Header().Set("Content-Type", "application/json")
	out.WriteHeader(answer.status)
	_, _ = out.Write(text) // a client that is gone needs no answer
}

func (s *items) create(_ *http.Request, body []byte) answer {
	var fields any
	if err := json.Unmarshal(body, &fields); err != nil {
		return failure(http.StatusBadRequest, "the body is not JSON")
	}
	object, _ := fields.(map[string]any)
	text := func(name string) *string {
		if text, ok := object[name].(string); ok {
			return &text
		}
		return nil
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	made := item{ID: id(s.counts.Created), Sku: text("sku"), Owner: text("owner"), Rev: 1}
	s.counts.Created++
	s.of[made.ID] = made
	return answer{
		status: http.StatusCreated, location: "/v1/items/" + made.ID, body: map[string]item{"item": made},
	}
}

// list shows some items of an owner.
func (s *items) list(request *http.Request, _ []byte) answer {
	owner := request.URL.Query().Get("owner")
	found := []item{}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	seen := 0
	for _, each := range s.of {
		if seen++; seen > mostLooked || len(found) == mostListed {
			break
		}
		if each.Owner != nil && *each.Owner == owner {
			found = append(found, each)
		}
	}
	return answer{status: http.StatusOK, body: map[string][]item{"items": found}}
}

// stock is an invented number, always the same one for an article.
func stock(request *http.Request, _ []byte) answer {
	sku := request.PathValue("sku")
	left := crc32.ChecksumIEEE([]byte(sku)) % 100
	return answer{status: http.StatusOK, body: map[string]any{"sku": sku, "stock": left}}
}

func (s *items) read(request *http.Request, _ []byte) answer {
	return s.find(request, func(found item) answer {
		s.counts.Read++
		return answer{status: http.StatusOK, body: map[string]item{"item": found}}
	})
}

func (s *items) patch(request *http.Request, body []byte) answer {
	return s.find(request, func(found item) answer {
		found.Rev++
		s.of[found.ID] = found
		s.counts.Patched++
		s.counts.PatchHash += uint64(crc32.ChecksumIEEE(body))
		return answer{status: http.StatusNoContent}
	})
}

func (s *items) remove(request *http.Request, _ []byte) answer {
	return s.find(request, func(found item) answer {
		delete(s.of, found.ID)
		s.counts.Deleted++
		return answer{status: http.StatusNoContent}
	})
}

// find passes the item of a request to act, if it exists and has the revision that is asked for.
func (s *items) find(request *http.Request, act func(item) answer) answer {
	wanted := request.PathValue("id")
	s.mutex.Lock()
	defer s.mutex.Unlock()
	found, exists := s.of[wanted]
	if !exists {
		if number, ok := numberOf(wanted); ok && number < s.counts.Created {
			s.counts.Duplicates++
		}
		return absent
	}
	match := request.Header.Get("If-Match")
	if request.Method != http.MethodGet && match != "" && match != "*" &&
		match != strconv.Quote(strconv.FormatInt(found.Rev, 10)) {
		return failure(http.StatusPreconditionFailed, "the item has another revision")
	}
	return act(found)
}

func (s *items) token(*http.Request, []byte) answer {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	token := id(s.counts.Tokens)
	s.counts.Tokens++
	return answer{status: http.StatusOK, body: map[string]any{
		"access_token": token, "token_type": "Bearer", "expires_in": int(tokenLife.Seconds()),
	}}
}
