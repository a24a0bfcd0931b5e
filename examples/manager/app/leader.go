package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

// errLeaseLost ends a manager that could not renew its Lease: another one may
// lead by now.
var errLeaseLost = errors.New("the leader election Lease is lost")

// lead waits for the Lease, works while it is held, and releases it when the work
// has ended, so that the next leader need not wait. Work is given a connection that
// does not write when the Lease has run out. lead returns errLeaseLost when the
// Lease is lost before the context is done.
func (m *Manager) lead(ctx context.Context, config *rest.Config, work func(context.Context, *rest.Config) error) error {
	if !m.config.LeaderElection.Enabled {
		m.metrics.Leader.Set(1)
		defer m.metrics.Leader.Set(0)
		return work(ctx, config)
	}
	lock, err := m.newLock(config)
	if err != nil {
		return err
	}
	fence := &fence{Interface: lock, duration: m.config.LeaderElection.LeaseDuration}
	fenced := rest.CopyConfig(config)
	fenced.Wrap(fence.transport)
	// The election outlives the work: it must hold the Lease until the last
	// pass has ended.
	holding, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	started := make(chan context.Context, 1)
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: fence, Name: m.config.LeaderElection.ID,
		LeaseDuration: m.config.LeaderElection.LeaseDuration,
		RenewDeadline: m.config.LeaderElection.RenewDeadline,
		RetryPeriod:   m.config.LeaderElection.RetryPeriod,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(leading context.Context) { started <- leading },
			OnStoppedLeading: func() {},
			OnNewLeader: func(identity string) {
				klog.FromContext(ctx).Info("Leader has changed", "leader", identity, "self", identity == lock.Identity())
			},
		},
	})
	if err != nil {
		return fmt.Errorf("leader election: %w", err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		elector.Run(holding)
	}()
	err = m.workWhileLeading(ctx, started, func(ctx context.Context) error { return work(ctx, fenced) })
	stop()
	<-ended
	if elector.IsLeader() && !errors.Is(err, errLeaseLost) {
		if failed := release(context.WithoutCancel(ctx), lock, m.config.LeaderElection.RenewDeadline); failed != nil {
			klog.FromContext(ctx).Error(failed, "The next leader has to wait until the Lease runs out")
		}
	}
	return err
}

func (m *Manager) workWhileLeading(ctx context.Context, started <-chan context.Context, work func(context.Context) error) error {
	var leading context.Context
	select {
	case <-ctx.Done():
		return nil
	case leading = <-started:
	}
	m.metrics.Leader.Set(1)
	defer m.metrics.Leader.Set(0)
	working, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(leading, stop)()
	err := work(working)
	if leading.Err() != nil {
		return errors.Join(errLeaseLost, err)
	}
	return err
}

// newLock returns the Lease with an identity of its own. Its requests give up
// well before the Lease runs out.
func (m *Manager) newLock(config *rest.Config) (resourcelock.Interface, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("leader election: the name of this host: %w", err)
	}
	config = withAgent(config, "leader-election")
	config.Timeout = max(time.Second, m.config.LeaderElection.RenewDeadline/2)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: m.config.leaseNamespace(), Name: m.config.LeaderElection.ID},
		Client:     client.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: host + "_" + string(uuid.NewUUID())},
	}, nil
}

// release empties the Lease, unless somebody else has it. The elector could do
// that too, but would also do it after losing the Lease, while the work still goes on.
func release(ctx context.Context, lock resourcelock.Interface, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	record, _, err := lock.Get(ctx)
	if err == nil && record.HolderIdentity == lock.Identity() {
		now := metav1.Now()
		err = lock.Update(ctx, resourcelock.LeaderElectionRecord{
			LeaseDurationSeconds: 1, AcquireTime: now, RenewTime: now, LeaderTransitions: record.LeaderTransitions,
		})
	}
	if err != nil {
		return fmt.Errorf("releasing the Lease %s: %w", lock.Describe(), err)
	}
	return nil
}
