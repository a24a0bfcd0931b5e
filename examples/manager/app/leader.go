// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// errLeaseOver refuses a write.
var errLeaseOver = errors.New("the leader election Lease has run out: another manager may lead; nothing is written until it is renewed")

// electLeader has one of several replicas run the controllers. It returns the connection that does not write when the
// Lease has run out.
func (m *Manager) electLeader(config *rest.Config, options *manager.Options) (*rest.Config, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("leader election: the name of this host: %w", err)
	}
	l := &m.config.LeaderElection
	identity := resourcelock.ResourceLockConfig{Identity: host + "_" + string(uuid.NewUUID())}
	impatient := rest.CopyConfig(config)
	impatient.Timeout = max(l.RenewDeadline/2, time.Second)
	own, err := newClients(impatient, "leader-election") // resourcelock's own client would not say whose it is
	if err != nil {
		return nil, err
	}
	lock, err := resourcelock.New(resourcelock.LeasesResourceLock, m.config.leaseNamespace(), l.ID,
		own.kubernetes.CoreV1(), own.kubernetes.CoordinationV1(), identity)
	if err != nil {
		return nil, err
	}
	fence := &fence{Interface: lock, duration: l.LeaseDuration.Truncate(time.Second), ready: m.ready} // as the Lease says it
	options.LeaderElection, options.LeaderElectionResourceLockInterface, options.LeaderElectionID = true, fence, l.ID
	options.LeaseDuration, options.RenewDeadline, options.RetryPeriod = &l.LeaseDuration, &l.RenewDeadline, &l.RetryPeriod
	options.LeaderElectionReleaseOnCancel = true
	fenced := rest.CopyConfig(config)
	fenced.Wrap(fence.transport)
	return fenced, nil
}

// fence is the Lease, and lets a leader write only as long as nobody else can have it. A process that stood still for
// longer goes on in the middle of what it did, and the election notices only after that.
type fence struct {
	resourcelock.Interface
	duration time.Duration // of the Lease
	ready    <-chan struct{}

	mu      sync.Mutex
	renewed time.Time // when the last renewal was asked for
}

// Get waits for the webhooks: who does not serve does not lead.
func (f *fence) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	select {
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	case <-f.ready:
		return f.Interface.Get(ctx)
	}
}

// Create takes the Lease for the first time.
func (f *fence) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return f.note(record, func() error { return f.Interface.Create(ctx, record) })
}

// Update takes, renews or releases the Lease.
func (f *fence) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return f.note(record, func() error { return f.Interface.Update(ctx, record) })
}

func (f *fence) note(record resourcelock.LeaderElectionRecord, write func() error) error {
	asked := time.Now()
	if record.HolderIdentity != f.Identity() {
		f.set(time.Time{}) // from here on somebody else may have it
		return write()
	}
	err := write()
	if err == nil {
		f.set(asked)
	}
	return err
}

func (f *fence) set(renewed time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.renewed = renewed
}

// check returns errLeaseOver when the Lease has run out. The others count from when they see a renewal, which is later
// than when it was asked for.
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
