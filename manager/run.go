// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/typedclient"
)

// Run runs webhooks and controllers until the context is done or one of them fails, and waits for all. A program of several
// replicas calls RunWebhooks in each, and RunControllers in the one that leads.
func (s *Set) Run(ctx context.Context) error {
	return together(ctx, s.RunWebhooks, s.RunControllers)
}

// RunWebhooks fills the caches of the webhooks, each as soon as the API server serves what it reads. If there is a Target,
// it registers the webhooks. It keeps them registered until the context is done or one cache fails, and waits for all. The
// caller serves the Handlers.
func (s *Set) RunWebhooks(ctx context.Context) error {
	runs := []func(context.Context) error{untilDone}
	if s.options.Target != nil {
		runs = append(runs, s.keepRegistered)
	}
	for _, k := range s.kinds {
		if k.Admission == nil || k.Admission.Run == nil {
			continue
		}
		runs = append(runs, func(ctx context.Context) error {
			if err := s.await(ctx, k.Resource, k.Admission.Missing); err != nil {
				return err
			}
			return k.Admission.Run(ctx)
		})
	}
	return together(ctx, runs...)
}

// RunControllers runs every controller as soon as the API server serves its resource. It does so until the context is done
// or one of them fails, and waits for all.
func (s *Set) RunControllers(ctx context.Context) error {
	runs := []func(context.Context) error{untilDone}
	for _, k := range s.kinds {
		if k.New != nil {
			runs = append(runs, func(ctx context.Context) error {
				if err := s.run(ctx, k); err != nil {
					return fmt.Errorf("%s: %w", k.Name, err)
				}
				return nil
			})
		}
	}
	return together(ctx, runs...)
}

// run makes a controller when its resource is served, and runs it until the context is done.
func (s *Set) run(ctx context.Context, k podwright.Kind) error {
	named := klog.NewContext(ctx, klog.FromContext(ctx).WithName(k.Name))
	if err := s.await(named, k.Resource, func() { tell(s.options.Waits, k) }); err != nil {
		return err
	}
	controller, err := k.New(named)
	if err != nil {
		return err
	}
	if s.options.Start != nil {
		s.options.Start(ctx)
	}
	tell(s.options.Runs, k)
	return controller.Run(ctx)
}

func tell(who func(podwright.Kind), k podwright.Kind) {
	if who != nil {
		who(k)
	}
}

func (s *Set) await(ctx context.Context, resource schema.GroupVersionResource, missing func()) error {
	if resource.Empty() {
		return nil
	}
	if s.options.Kubernetes == nil {
		return errors.New("manager: Options.Kubernetes is nil: it needs a clientset, kubernetes.NewForConfig makes one")
	}
	return Await(ctx, s.options.Kubernetes.Discovery(), resource, s.options.LookAgain, missing)
}

// together runs functions until the context is done or one of them fails, and waits for all. Then it returns the error of the first
// that failed, but for those with which they end when the context is done.
func together(ctx context.Context, all ...func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var running sync.WaitGroup
	var first sync.Once
	var failed error
	for _, run := range all {
		running.Go(func() {
			if err := run(ctx); err != nil && ctx.Err() == nil {
				first.Do(func() { failed = err })
				cancel()
			}
		})
	}
	running.Wait()
	return failed
}

func untilDone(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// Served tells whether the API server serves a resource now.
func Served(ctx context.Context, client discovery.ServerResourcesInterface, resource schema.GroupVersionResource) (bool, error) {
	return typedclient.Served(ctx, client, resource)
}

// Await returns nil once the API server serves a resource, or else why the context is done. It looks every so often,
// plus up to half of that by chance. Missing is called once it is known that the resource is not served; nil: only a
// line of the log says it.
func Await(ctx context.Context, client discovery.ServerResourcesInterface, resource schema.GroupVersionResource, every time.Duration, missing func()) error {
	said := false
	pause := wait.DelayFunc(func() time.Duration { return wait.Jitter(every, 0.5) })
	return pause.Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		served, err := Served(ctx, client, resource)
		switch {
		case err != nil && ctx.Err() == nil:
			klog.FromContext(ctx).Error(err, "Trying again", "after", every)
		case err == nil && !served && !said:
			said = true
			if missing != nil {
				missing()
			}
			klog.FromContext(ctx).Info("Not started, because its CRD is not installed; it starts when the CRD appears", "crd", resource.GroupResource())
		}
		return served, nil
	})
}
