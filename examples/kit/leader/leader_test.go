// SPDX-License-Identifier: Apache-2.0

package leader

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// lease is one that gives the answers of the test.
type lease struct {
	resourcelock.Interface
	answer error
	record resourcelock.LeaderElectionRecord
	cut    bool // nothing is answered to the next request
}

func (l *lease) Describe() string                                                { return "the Lease" }
func (l *lease) Identity() string                                                { return "me" }
func (l *lease) RecordEvent(string)                                              {}
func (l *lease) Create(context.Context, resourcelock.LeaderElectionRecord) error { return l.answer }

func (l *lease) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	if err := l.connect(ctx); err != nil {
		return nil, nil, err
	}
	raw, err := json.Marshal(l.record)
	return &l.record, raw, errors.Join(err, l.answer)
}

func (l *lease) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if err := l.connect(ctx); err != nil {
		return err
	}
	if l.answer == nil {
		l.record = record
	}
	return l.answer
}

func (l *lease) connect(ctx context.Context) error {
	if l.cut {
		<-ctx.Done()
		l.cut = false
	}
	return ctx.Err()
}

// mine is what a renewal writes that began some time ago.
func mine(ago time.Duration) resourcelock.LeaderElectionRecord {
	return resourcelock.LeaderElectionRecord{HolderIdentity: "me", RenewTime: metav1.NewTime(time.Now().Add(-ago))}
}

func TestFence(t *testing.T) {
	const duration = time.Hour
	refused := errors.New("refused")
	cases := map[string]struct {
		take func(*fence, *lease)
		age  time.Duration // of the renewal
		over bool
	}{
		"never taken":               {func(*fence, *lease) {}, 0, true},
		"taken":                     {func(f *fence, _ *lease) { _ = f.Create(t.Context(), mine(0)) }, 0, false},
		"renewed":                   {func(f *fence, _ *lease) { _ = f.Update(t.Context(), mine(0)) }, 0, false},
		"renewed a while ago":       {func(f *fence, _ *lease) { _ = f.Update(t.Context(), mine(0)) }, duration - time.Minute, false},
		"renewed by a slow request": {func(f *fence, _ *lease) { _ = f.Update(t.Context(), mine(10*time.Second)) }, duration - 12*time.Second, false},
		"renewed by one too slow":   {func(f *fence, _ *lease) { _ = f.Update(t.Context(), mine(10*time.Second)) }, duration - 10*time.Second, true},
		"renewed too long ago":      {func(f *fence, _ *lease) { _ = f.Update(t.Context(), mine(0)) }, duration, true},
		"released": {func(f *fence, _ *lease) {
			_ = f.Update(t.Context(), mine(0))
			_, _, _ = f.Get(t.Context())
			_ = f.Update(t.Context(), resourcelock.LeaderElectionRecord{})
		}, 0, true},
		"releasing it has failed": {func(f *fence, l *lease) {
			_ = f.Update(t.Context(), mine(0))
			_, _, _ = f.Get(t.Context())
			l.answer = refused
			_ = f.Update(t.Context(), resourcelock.LeaderElectionRecord{})
		}, 0, true},
		"taking it has failed": {func(f *fence, l *lease) {
			l.answer = refused
			_ = f.Create(t.Context(), mine(0))
		}, 0, true},
		"renewing it has failed": {func(f *fence, l *lease) {
			l.answer = refused
			_ = f.Update(t.Context(), mine(0))
		}, 0, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			inner := &lease{}
			f := &fence{Interface: inner, duration: duration}
			c.take(f, inner)
			for clock, now := range map[string]time.Time{"running": time.Now(), "set": time.Now().Round(0)} {
				if _, err := f.left(now.Add(c.age)); errors.Is(err, errLeaseOver) != c.over {
					t.Errorf("by the clock that is %s: expected over=%v, observed %v", clock, c.over, err)
				}
			}
		})
	}
}

// What reads goes on, what writes does not reach the API server.
func TestFencedRequests(t *testing.T) {
	var reached []string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { reached = append(reached, r.Method) }))
	defer server.Close()
	f := &fence{Interface: &lease{}, duration: time.Hour}
	client := &http.Client{Transport: f.transport(http.DefaultTransport)}
	send := func(method string) error {
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err == nil {
			response.Body.Close()
		}
		return err
	}
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		if err := send(method); err != nil {
			t.Errorf("%s without the Lease: %v", method, err)
		}
	}
	writes := []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
	for _, method := range writes {
		if err := send(method); !errors.Is(err, errLeaseOver) {
			t.Errorf("%s without the Lease: expected errLeaseOver, observed %v", method, err)
		}
	}
	if err := f.Update(t.Context(), mine(0)); err != nil {
		t.Fatal(err)
	}
	for _, method := range writes {
		if err := send(method); err != nil {
			t.Errorf("%s with the Lease: %v", method, err)
		}
	}
	if got := strings.Join(reached, " "); got != "GET HEAD POST PUT PATCH DELETE" {
		t.Errorf("the API server has been reached by %s", got)
	}
}

// A write that waits for a connection when the Lease runs out is never sent.
func TestFencedRequestThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fence{Interface: &lease{}, duration: 8 * time.Second}
		if err := f.Update(t.Context(), mine(0)); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		dialing := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, "http://api", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.transport(dialing).RoundTrip(request)
		if took := time.Since(begin); !errors.Is(err, errLeaseOver) || took != 8*time.Second {
			t.Errorf("error %v after %v", err, took)
		}
		dialing.CloseIdleConnections()
	})
}

// Who does not serve does not lead.
func TestLeadershipWaitsUntilReady(t *testing.T) {
	ready := make(chan struct{})
	f := &fence{Interface: &lease{}, ready: ready}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := f.Get(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("before it is ready: %v", err)
	}
	close(ready)
	for _, f := range []*fence{f, {Interface: &lease{}}} {
		if _, _, err := f.Get(t.Context()); err != nil {
			t.Errorf("when it is ready: %v", err)
		}
	}
}

// A leader whose connection came back after another replica took the Lease leaves it alone. One that ends releases it.
func TestRelease(t *testing.T) {
	for holder, replaced := range map[string]bool{"": false, "other": true} {
		synctest.Test(t, func(t *testing.T) {
			inner := &lease{}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
				Lock: &fence{Interface: inner, duration: 8 * time.Second}, ReleaseOnCancel: true,
				LeaseDuration: 8 * time.Second, RenewDeadline: 6 * time.Second, RetryPeriod: 2 * time.Second,
				Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {}},
			})
			if err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			go func() { elector.Run(ctx); close(ended) }()
			time.Sleep(10 * time.Second)
			if inner.record.HolderIdentity != "me" {
				t.Fatalf("no replica leads: %+v", inner.record)
			}
			if replaced {
				inner.cut, inner.record = true, resourcelock.LeaderElectionRecord{HolderIdentity: "other"}
			} else {
				cancel()
			}
			<-ended
			if got := inner.record.HolderIdentity; got != holder {
				t.Errorf("replaced %v: expected the holder %q, observed %q", replaced, holder, got)
			}
		})
	}
}

func TestHolder(t *testing.T) {
	now, length, me := metav1.NowMicro(), int32(15), "me"
	for name, c := range map[string]struct {
		lease coordinationv1.LeaseSpec
		want  string
	}{
		"held":         {coordinationv1.LeaseSpec{HolderIdentity: &me, RenewTime: &now, LeaseDurationSeconds: &length}, me},
		"run out":      {coordinationv1.LeaseSpec{HolderIdentity: &me, RenewTime: &metav1.MicroTime{Time: now.Add(-time.Minute)}, LeaseDurationSeconds: &length}, ""},
		"never held":   {coordinationv1.LeaseSpec{}, ""},
		"released":     {coordinationv1.LeaseSpec{RenewTime: &now, LeaseDurationSeconds: &length}, ""},
		"of no length": {coordinationv1.LeaseSpec{HolderIdentity: &me, RenewTime: &now}, ""},
	} {
		client := fake.NewClientset(&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: "manager"}, Spec: c.lease})
		if got, err := Holder(t.Context(), client, "system", "manager"); got != c.want || err != nil {
			t.Errorf("%s: got %q, %v; want %q", name, got, err, c.want)
		}
		if got, err := Holder(t.Context(), client, "system", "other"); got != "" || err != nil {
			t.Errorf("no Lease: got %q, %v", got, err)
		}
	}
}
