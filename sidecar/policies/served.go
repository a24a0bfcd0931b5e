// SPDX-License-Identifier: Apache-2.0

package policies

import (
	"context"
	"errors"
	"fmt"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/internal/typedclient"
)

// run runs the controller. If the API server does not serve policies, it says so in the log, and does
// nothing until the context is done. (SPC-8)
func (o *Options) run(ctx context.Context, run func(context.Context) error) error {
	bounded, end := context.WithTimeout(ctx, o.CacheSyncTimeout)
	served, err := o.served(bounded)
	end()
	if err == nil && served {
		return run(ctx)
	}
	if err == nil {
		klog.FromContext(ctx).Info("The API server does not serve MutatingAdmissionPolicies, as from Kubernetes 1.36: SidecarSets are injected by the webhook alone")
		<-ctx.Done()
	}
	ended, end := context.WithCancel(ctx)
	end()
	_ = run(ended) // ends what New has started
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("%s: %w", component, err)
}

// served asks whether policies are served, until there is an answer or the context is done.
func (o *Options) served(ctx context.Context) (served bool, err error) {
	if o.Discovery == nil {
		o.Discovery = o.Kubernetes.Discovery()
	}
	ended := wait.PollUntilContextCancel(ctx, time.Second, true, func(ctx context.Context) (bool, error) {
		if served, err = isServed(ctx, o.Discovery); err != nil {
			klog.FromContext(ctx).Error(err, "Trying again in a second")
		}
		return err == nil, nil
	})
	return served, errors.Join(err, ended)
}

// Served tells whether an API server serves MutatingAdmissionPolicies of v1, as those of
// Kubernetes do from 1.36.
func Served(of discovery.ServerResourcesInterface) (bool, error) {
	return isServed(context.Background(), of)
}

func isServed(ctx context.Context, of discovery.ServerResourcesInterface) (bool, error) {
	return typedclient.Served(ctx, of, admissionregistrationv1.SchemeGroupVersion.WithResource(string(resourcePolicies)))
}
