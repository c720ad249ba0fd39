package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
)

// maxBody is the longest request body, in bytes.
const maxBody = 64 << 10

// fields are what a client may set. A field that is nil was never sent.
type fields struct {
	Owner *string `json:"owner,omitempty"`
	Sku   *string `json:"sku,omitempty"`
}

type item struct {
	ID string `json:"id"`
	fields
	Rev int `json:"rev"`
}

type answer struct {
	Item item `json:"item"`
}

// items is the service and its store.
type items struct {
	mutex sync.Mutex
	of    map[string]item
}

func newItems() *items {
	return &items{of: map[string]item{}}
}

func (s *items) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/items", s.create)
	mux.HandleFunc("GET /v1/items/{id}", s.read)
	mux.HandleFunc("PATCH /v1/items/{id}", s.change)
	mux.HandleFunc("DELETE /v1/items/{id}", s.remove)
	return mux
}

func (s *items) create(out http.ResponseWriter, request *http.Request) {
	sent, ok := read(out, request)
	if !ok {
		return
	}
	made := item{ID: rand.Text(), fields: sent, Rev: 1}
	s.mutex.Lock()
	s.of[made.ID] = made
	s.mutex.Unlock()
	out.Header().Set("Location", "/v1/items/"+made.ID)
	write(out, http.StatusCreated, answer{made})
}

func (s *items) read(out http.ResponseWriter, request *http.Request) {
	s.mutex.Lock()
	found, exists := s.of[request.PathValue("id")]
	s.mutex.Unlock()
	if !exists {
		fail(out, http.StatusNotFound, "there is no such item")
		return
	}
	write(out, http.StatusOK, answer{found})
}

func (s *items) change(out http.ResponseWriter, request *http.Request) {
	sent, ok := read(out, request)
	if !ok {
		return
	}
	s.find(out, request, func(found item) {
		if sent.Owner != nil {
			found.Owner = sent.Owner
		}
		if sent.Sku != nil {
			found.Sku = sent.Sku
		}
		found.Rev++
		s.of[found.ID] = found
	})
}

func (s *items) remove(out http.ResponseWriter, request *http.Request) {
	s.find(out, request, func(found item) { delete(s.of, found.ID) })
}

// find passes the item of a request to act, if it exists and has the revision that is asked for.
func (s *items) find(out http.ResponseWriter, request *http.Request, act func(item)) {
	s.mutex.Lock()
	found, exists := s.of[request.PathValue("id")]
	matches := exists && allows(request.Header.Get("If-Match"), found.Rev)
	if matches {
		act(found)
	}
	s.mutex.Unlock()
	switch {
	case !exists:
		fail(out, http.StatusNotFound, "there is no such item")
	case !matches:
		fail(out, http.StatusPreconditionFailed, "the item has another revision")
	default:
		out.WriteHeader(http.StatusNoContent)
	}
}

// allows returns whether an If-Match holds for a revision.
func allows(match string, rev int) bool {
	return match == "" || match == "*" || match == strconv.Quote(strconv.Itoa(rev))
}

// read returns the JSON of a request; if it is none, it answers the request.
func read(out http.ResponseWriter, request *http.Request) (fields, bool) {
	var sent fields
	body, err := io.ReadAll(http.MaxBytesReader(out, request.Body, maxBody))
	var tooLong *http.MaxBytesError
	if errors.As(err, &tooLong) {
		fail(out, http.StatusRequestEntityTooLarge, "a body may have 65536 bytes")
		return sent, false
	}
	if err == nil {
		err = json.Unmarshal(body, &sent)
	}
	if err != nil {
		fail(out, http.StatusBadRequest, "the body is no JSON of an item")
		return sent, false
	}
	return sent, true
}

func fail(out http.ResponseWriter, status int, words string) {
	write(out, status, map[string]string{"error": words})
}

func write(out http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		http.Error(out, err.Error(), http.StatusInternalServerError)
		return
	}
	out.Header().Set("Content-Type", "application/json")
	out.WriteHeader(status)
	_, _ = out.Write(text) // a client that is gone needs no answer
}
