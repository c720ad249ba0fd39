package main

import (
	"bytes"
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/stats"
)

const (
	// manyConnections is more than any check opens.
	manyConnections = 100
	// lateAfter is in the warm-up or the window of a short session.
	lateAfter = 3 * time.Second
	preface   = 24
	head      = 9
)

// checkSettings are those that the checks of this project once sent, whatever the generator was.
var checkSettings = []byte{0, 2, 0, 0, 0, 0, 0, 4, 0, 0x10, 0, 0}

// loadAgents are the user agents of the generators.
var loadAgents = []string{"grpc-go/1.56.3", "h2load nghttp2/", "volley/"}

// sly takes some calls for those of a load, by what its clients show, and lies in one of every so many of them.
type sly struct {
	tell    string
	every   int64
	calls   atomic.Int64
	open    atomic.Int64
	began   time.Time
	mutex   sync.Mutex
	loaders map[string]bool // by the client's address, as its SETTINGS tell
}

func newSly(words []string) (*sly, error) {
	if len(words) != 2 {
		return nil, errors.New("sly needs TELL and N")
	}
	every, err := strconv.ParseInt(words[1], 10, 64)
	return &sly{tell: words[0], every: every, began: time.Now(), loaders: map[string]bool{}}, err
}

func (s *sly) lies(ctx context.Context) bool {
	return s.isLoad(ctx) && s.calls.Add(1)%s.every == 0
}

func (s *sly) isLoad(ctx context.Context) bool {
	switch s.tell {
	case "connections":
		return s.open.Load() > manyConnections
	case "time":
		return time.Since(s.began) > lateAfter
	case "agent":
		for _, agent := range metadata.ValueFromIncomingContext(ctx, "user-agent") {
			for _, load := range loadAgents {
				if strings.HasPrefix(agent, load) {
					return true
				}
			}
		}
		return false
	default:
		from, _ := peer.FromContext(ctx)
		s.mutex.Lock()
		defer s.mutex.Unlock()
		return s.loaders[from.Addr.String()]
	}
}

func (s *sly) options() []grpc.ServerOption {
	return []grpc.ServerOption{grpc.StatsHandler(counter{s})}
}

// counter counts the connections that are open.
type counter struct{ *sly }

func (c counter) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (c counter) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (c counter) HandleRPC(context.Context, stats.RPCStats)                         {}
func (c counter) HandleConn(_ context.Context, what stats.ConnStats) {
	switch what.(type) {
	case *stats.ConnBegin:
		c.open.Add(1)
	case *stats.ConnEnd:
		c.open.Add(-1)
	}
}

func (s *sly) listen(listener net.Listener) net.Listener { return watching{listener, s} }

// watching looks at the SETTINGS of each client.
type watching struct {
	net.Listener
	sly *sly
}

func (w watching) Accept() (net.Conn, error) {
	conn, err := w.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &watched{Conn: conn, sly: w.sly}, nil
}

type watched struct {
	net.Conn
	sly  *sly
	seen []byte
	done bool
}

func (w *watched) Read(into []byte) (int, error) {
	n, err := w.Conn.Read(into)
	if w.done {
		return n, err
	}
	w.seen = append(w.seen, into[:n]...)
	if len(w.seen) < preface+head {
		return n, err
	}
	length := int(w.seen[preface])<<16 | int(w.seen[preface+1])<<8 | int(w.seen[preface+2])
	if len(w.seen) < preface+head+length {
		return n, err
	}
	w.done = true
	settings := w.seen[preface+head : preface+head+length]
	w.sly.mutex.Lock()
	w.sly.loaders[w.RemoteAddr().String()] = !bytes.Equal(settings, checkSettings)
	w.sly.mutex.Unlock()
	return n, err
}
