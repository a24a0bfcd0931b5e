package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// errLeaseOver refuses a write.
var errLeaseOver = errors.New("the leader election Lease has run out: another manager may lead; nothing is written until it is renewed")

// fence is the Lease, and lets a leader write only as long as nobody else can
// have it. A process that stood still for longer goes on in the middle of what it
// did, and the election notices only after that.
type fence struct {
	resourcelock.Interface
	duration time.Duration // of the Lease

	mu      sync.Mutex
	renewed time.Time // when the last renewal was asked for
}

// Create takes the Lease for the first time.
func (f *fence) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	asked := time.Now()
	return f.note(asked, f.Interface.Create(ctx, record))
}

// Update takes or renews the Lease.
func (f *fence) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	asked := time.Now()
	return f.note(asked, f.Interface.Update(ctx, record))
}

func (f *fence) note(asked time.Time, err error) error {
	if err == nil {
		f.mu.Lock()
		f.renewed = asked
		f.mu.Unlock()
	}
	return err
}

// check returns errLeaseOver when the Lease has run out. The others count from
// when they see a renewal, which is later than when it was asked for.
func (f *fence) check(now time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	// A machine that is suspended stops one of the two clocks.
	age := max(now.Sub(f.renewed), now.Round(0).Sub(f.renewed.Round(0)))
	if age >= f.duration {
		return fmt.Errorf("%w; the last renewal was %v ago", errLeaseOver, age.Round(time.Millisecond))
	}
	return nil
}

// transport refuses requests that write when the Lease has run out.
func (f *fence) transport(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(request *http.Request) (*http.Response, error) {
		if request.Method != http.MethodGet && request.Method != http.MethodHead {
			if err := f.check(time.Now()); err != nil {
				if request.Body != nil {
					request.Body.Close()
				}
				return nil, err
			}
		}
		return next.RoundTrip(request)
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }
