// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/manifests"
)

// whitelistConfigMap is the ConfigMap, in the namespace of the manager, whose key
// v1alpha1.PersistentPodStateWhitelistKey is the white list.
const whitelistConfigMap = "kruise-configuration"

// WhitelistRules returns the RBAC rules for a Role in the namespace of the white list that reading it takes.
func WhitelistRules() []rbacv1.PolicyRule {
	rule := manifests.Rule("", "configmaps", "get")
	rule.ResourceNames = []string{whitelistConfigMap}
	return []rbacv1.PolicyRule{rule}
}

// ReadWhitelist reads the white list from the API server; nil if there is none. It takes WhitelistRules. (PPS-2)
func ReadWhitelist(ctx context.Context, client kubernetes.Interface, namespace string) (podstate.Whitelist, error) {
	config, err := apiwriter.Found(client.CoreV1().ConfigMaps(namespace).Get(ctx, whitelistConfigMap, metav1.GetOptions{}))
	if err != nil {
		return nil, fmt.Errorf("read ConfigMap %s/%s: %w", namespace, whitelistConfigMap, err)
	}
	if config == nil {
		return nil, nil
	}
	list, err := podstate.ReadWhitelist(config.Data)
	if err != nil {
		return nil, fmt.Errorf("ConfigMap %s/%s: %w", namespace, whitelistConfigMap, err)
	}
	return list, nil
}

// AwaitWhitelist is ReadWhitelist for the start of a program. It waits for an API server that does not answer, and goes without
// a white list that is none, which the log says. It returns an error only when the context is done.
func AwaitWhitelist(ctx context.Context, client kubernetes.Interface, namespace string) (podstate.Whitelist, error) {
	for {
		list, err := ReadWhitelist(ctx, client, namespace)
		if err == nil {
			return list, nil
		}
		klog.FromContext(ctx).Error(err, "The kinds of the white list are not known")
		var syntax *json.SyntaxError
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &syntax) || errors.As(err, &wrong) {
			return nil, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", context.Cause(ctx), err)
		case <-time.After(time.Second):
		}
	}
}

// CustomKinds returns what Options.Custom takes. Of a white list these are the kinds that the API server serves, and
// that the client's user may list and watch in a namespace. An empty namespace stands for all. Of the others, whose
// caches would never be filled, the log says why they are left out. It takes no rule that not every user has. (PPS-2,
// PPS-24)
func CustomKinds(ctx context.Context, client kubernetes.Interface, list podstate.Whitelist, namespace string) (kinds []CustomKind, err error) {
	for _, kind := range list {
		if (podstate.Whitelist{}).Allows(kind.GroupKind()) {
			continue // it is known anyway
		}
		served, err := client.Discovery().ServerResourcesForGroupVersion(kind.GroupVersion().String())
		if err != nil && !apierrors.IsNotFound(err) {
			return nil, err
		}
		i := -1
		if err == nil {
			i = slices.IndexFunc(served.APIResources, func(r metav1.APIResource) bool { return r.Kind == kind.Kind && r.Namespaced })
		}
		if i < 0 {
			klog.FromContext(ctx).Info("PersistentPodStates do not know a kind of the white list until the next start, because it is not served", "kind", kind)
			continue
		}
		custom := CustomKind{Kind: kind, Resource: served.APIResources[i].Name}
		may, err := mayRead(ctx, client, custom, namespace)
		if err != nil {
			return nil, err
		}
		if !may {
			klog.FromContext(ctx).Info("PersistentPodStates do not know a kind of the white list until the next start, because the manager may not list and watch it", "kind", kind)
			continue
		}
		kinds = append(kinds, custom)
	}
	return kinds, nil
}

// mayRead asks the API server whether a kind may be listed and watched.
func mayRead(ctx context.Context, client kubernetes.Interface, kind CustomKind, namespace string) (bool, error) {
	for _, verb := range []string{"list", "watch"} {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: verb, Group: kind.Kind.Group, Version: kind.Kind.Version, Resource: kind.Resource}}}
		answer, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err != nil || !answer.Status.Allowed {
			return false, err
		}
	}
	return true, nil
}
