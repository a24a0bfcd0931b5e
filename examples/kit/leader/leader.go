// SPDX-License-Identifier: Apache-2.0

// Package leader has one of several replicas of a program work, and none of the others. A leader that stood still for
// longer than its Lease writes nothing when it goes on, until it has renewed the Lease.
package leader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/podwright/podwright/examples/kit/connect"
)

// errLeaseOver refuses a write.
var errLeaseOver = errors.New("the leader election Lease has run out: another manager may lead; nothing is written until it is renewed")

// Elect has a manager with these options run its controllers in one of several replicas: in that which holds the Lease
// options.LeaderElectionID of the namespace. It does not lead before ready is closed; nil: it may at once. Elect returns
// the connection for what a leader alone may write.
func Elect(config *rest.Config, namespace string, ready <-chan struct{}, options *manager.Options) (*rest.Config, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("leader election: the name of this host: %w", err)
	}
	options.LeaseDuration = cmp.Or(options.LeaseDuration, ptr.To(15*time.Second))
	options.RenewDeadline = cmp.Or(options.RenewDeadline, ptr.To(10*time.Second))
	impatient := rest.CopyConfig(config)
	impatient.Timeout = max(*options.RenewDeadline/2, time.Second)
	// resourcelock's own client would not say whose it is.
	impatient.UserAgent = cmp.Or(config.UserAgent, rest.DefaultKubernetesUserAgent()) + "/leader-election"
	client, err := connect.Kubernetes(impatient)
	if err != nil {
		return nil, err
	}
	identity := resourcelock.ResourceLockConfig{Identity: host + "_" + string(uuid.NewUUID())}
	lock, err := resourcelock.New(resourcelock.LeasesResourceLock, namespace, options.LeaderElectionID, client.CoreV1(), client.CoordinationV1(), identity)
	if err != nil {
		return nil, err
	}
	fence := &fence{Interface: lock, duration: options.LeaseDuration.Truncate(time.Second), ready: ready} // as the Lease says it
	options.LeaderElection, options.LeaderElectionResourceLockInterface, options.LeaderElectionReleaseOnCancel = true, fence, true
	fenced := rest.CopyConfig(config)
	fenced.Wrap(fence.transport)
	return fenced, nil
}

// Holder names the replica that holds a Lease now; "" if no replica does, or the one that did has not renewed it in time.
func Holder(ctx context.Context, client kubernetes.Interface, namespace, name string) (string, error) {
	lease, err := client.CoordinationV1().Leases(namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "", nil
	} else if err != nil {
		return "", fmt.Errorf("looking for the leader: %w", err)
	}
	length := time.Duration(ptr.Deref(lease.Spec.LeaseDurationSeconds, 0)) * time.Second
	if lease.Spec.RenewTime == nil || time.Since(lease.Spec.RenewTime.Time) > length {
		return "", nil
	}
	return ptr.Deref(lease.Spec.HolderIdentity, ""), nil
}

// fence is the Lease, and lets a leader write only as long as no other replica can have it. A process that stood still for
// longer goes on in the middle of what it did, and the election notices only after that.
type fence struct {
	resourcelock.Interface
	duration time.Duration   // of the Lease
	ready    <-chan struct{} // nil: from the beginning

	mu      sync.Mutex
	renewed time.Time // from when on, at the earliest, others count the last renewal
	holder  string    // who had it when it was last read
}

// Get waits until the replica is ready: who does not serve does not lead.
func (f *fence) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	if f.ready != nil {
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-f.ready:
		}
	}
	record, raw, err := f.Interface.Get(ctx)
	if err == nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.holder = record.HolderIdentity
	}
	return record, raw, err
}

// Create takes the Lease for the first time.
func (f *fence) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return f.note(record, func() error { return f.Interface.Create(ctx, record) })
}

// Update takes, renews or releases the Lease. A leader that has lost it does not release it. The election goes by what
// it remembers there, and would otherwise take the Lease from the one that leads now.
func (f *fence) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if holder := f.lastHolder(); record.HolderIdentity == "" && holder != f.Identity() {
		f.set(time.Time{})
		return fmt.Errorf("the Lease is not released: %q has it", holder)
	}
	return f.note(record, func() error { return f.Interface.Update(ctx, record) })
}

// note takes note of a renewal. To the others one that says the same second as the one before is none, since records have no
// fractions of seconds. It counts from that second on, however much later it was asked for.
func (f *fence) note(record resourcelock.LeaderElectionRecord, write func() error) error {
	asked := time.Now()
	if record.HolderIdentity != f.Identity() {
		f.set(time.Time{}) // from here on another replica may have it
		return write()
	}
	err := write()
	if err == nil {
		f.set(asked.Add(min(0, record.RenewTime.Truncate(time.Second).Sub(asked.Round(0)))))
	}
	return err
}

func (f *fence) set(renewed time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.renewed = renewed
}

func (f *fence) lastHolder() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.holder
}

// left is how long the Lease lasts, or errLeaseOver when it has run out. The others count from when they see a renewal,
// which is later.
func (f *fence) left(now time.Time) (time.Duration, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	// A machine that is suspended stops one of the two clocks.
	age := max(now.Sub(f.renewed), now.Round(0).Sub(f.renewed.Round(0)))
	if age >= f.duration {
		return 0, fmt.Errorf("%w; the last renewal was %v ago", errLeaseOver, age.Round(time.Millisecond))
	}
	return f.duration - age, nil
}

// transport refuses requests that write when the Lease has run out, and ends those that are under way then. They may still
// wait for a connection.
func (f *fence) transport(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(request *http.Request) (*http.Response, error) {
		if request.Method == http.MethodGet || request.Method == http.MethodHead {
			return next.RoundTrip(request)
		}
		left, err := f.left(time.Now())
		if err != nil {
			if request.Body != nil {
				request.Body.Close()
			}
			return nil, err
		}
		ctx, cancel := context.WithTimeoutCause(request.Context(), left, errLeaseOver)
		response, err := next.RoundTrip(request.WithContext(ctx))
		if err != nil {
			if cause := context.Cause(ctx); errors.Is(cause, errLeaseOver) {
				err = fmt.Errorf("%w: %w", cause, err)
			}
			cancel()
			return nil, err
		}
		response.Body = &body{response.Body, cancel}
		return response, nil
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// body is that of an answer, whose context ends when it has been read.
type body struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b *body) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}
