// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/examples/kit/connect"
	"github.com/podwright/podwright/examples/kit/leader"
	"github.com/podwright/podwright/examples/kit/webhooks"
)

// removeTimeout is how long the managers may take to end, and removePause the time between two looks: shorter than managers take to
// register again.
const (
	removeTimeout = 3 * time.Minute
	removePause   = 250 * time.Millisecond
)

func removeWebhooks(ctx context.Context, config Config) error {
	connection, _, err := connect.Config(config.REST, config.Kubeconfig)
	if err != nil {
		return err
	}
	connection = rest.CopyConfig(connection)
	connection.UserAgent, connection.QPS, connection.Burst = program, config.QPS, config.Burst // a look takes 11 requests, of which client-go allows 5 a second
	core, err := kubernetes.NewForConfig(connection)
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(connection)
	if err != nil {
		return err
	}
	return RemoveWebhooks(ctx, core, client, config)
}

// RemoveWebhooks ends the managers of the Deployment config.RemoveWebhooksOf, and removes what they have registered, for an
// uninstall. The API server would ask webhooks that no process serves, and refuse what they are about. While managers end it
// is removed again and again, so that no request waits for them. If another manager leads, all is left to that.
func RemoveWebhooks(ctx context.Context, core kubernetes.Interface, client dynamic.Interface, config Config) error {
	ctx, cancel := context.WithTimeoutCause(ctx, removeTimeout, fmt.Errorf("the managers have not ended after %v", removeTimeout))
	defer cancel()
	deployments, log := core.AppsV1().Deployments(config.OwnNamespace), klog.FromContext(ctx)
	deployment, err := deployments.Get(ctx, config.RemoveWebhooksOf, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("--remove-webhooks-of=%s: %w", config.RemoveWebhooksOf, err)
	}
	pods := func() ([]corev1.Pod, error) {
		if deployment.Spec.Selector == nil { // it is gone
			return nil, nil
		}
		list, err := core.CoreV1().Pods(config.OwnNamespace).List(ctx, metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(deployment.Spec.Selector)})
		if err != nil {
			return nil, fmt.Errorf("looking for pods of managers: %w", err)
		}
		return list.Items, nil
	}
	running, err := pods()
	if err != nil {
		return err
	}
	holder, err := leader.Holder(ctx, core, config.leaseNamespace(), config.LeaderElection.ID)
	if err != nil {
		return err
	}
	if holder != "" && !slices.ContainsFunc(running, func(pod corev1.Pod) bool { return strings.HasPrefix(holder, pod.Name+"_") }) {
		log.Info("Another manager leads, and keeps the webhooks", "holder", holder)
		return nil
	}
	if deployment.Spec.Selector != nil {
		if _, err := deployments.Patch(ctx, deployment.Name, types.MergePatchType, []byte(`{"spec":{"replicas":0}}`), metav1.PatchOptions{}, "scale"); err != nil {
			return fmt.Errorf("scaling the managers to 0: %w", err)
		}
	}
	service := types.NamespacedName{Namespace: config.OwnNamespace, Name: config.Webhook.Service}
	var failed error // of the last look: one that fails must not leave webhooks behind that no process serves
	err = wait.PollUntilContextCancel(ctx, removePause, true, func(ctx context.Context) (bool, error) {
		left, err := pods() // before the removal: what has ended registers nothing after it
		failed = errors.Join(err, webhooks.Unregister(ctx, core, client, service))
		return failed == nil && len(left) == 0, nil
	})
	if err != nil {
		return errors.Join(context.Cause(ctx), failed)
	}
	log.Info("The managers have ended, and their webhooks are removed", "deployment", config.RemoveWebhooksOf)
	return nil
}
