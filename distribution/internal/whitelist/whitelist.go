// SPDX-License-Identifier: Apache-2.0

// Package whitelist reads which further kinds of workloads podwright looks after, beside those that it knows. An
// administrator lists them in the ConfigMap kruise-configuration, in the namespace of the manager. It has a key for
// each kind of podwright that may look after them.
package whitelist

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/internal/typedclient"
)

// configMap is the ConfigMap, in the namespace of the manager, whose keys are the white lists.
const configMap = "kruise-configuration"

// Rules returns the RBAC rules for a Role in the namespace of the white lists that reading them takes.
func Rules() []rbacv1.PolicyRule {
	rule := manifests.Rule("", "configmaps", "get")
	rule.ResourceNames = []string{configMap}
	return []rbacv1.PolicyRule{rule}
}

// KindRules returns the RBAC rules that reading workloads of further kinds takes, each named by resource and group.
func KindRules(resources ...schema.GroupResource) (rules []rbacv1.PolicyRule) {
	for _, r := range resources {
		rules = append(rules, manifests.Watch(r.Group, r.Resource)...)
	}
	return rules
}

// CheckKind checks an entry of Options.Custom, of which read says that there is an informer, or a client to make one of. The
// example names one.
func CheckKind(c *controller.Checks, kind schema.GroupVersionKind, resource string, read bool, example string) {
	c.That(kind.Kind != "" && resource != "", "Options.Custom has an entry without Kind or Resource: give both, such as "+example).
		That(read, "Options.Dynamic is nil: it is needed to read the "+resource+" of Options.Custom, which have no Informer")
}

// Read has a white list read from the data of the ConfigMap; the zero value if there is none. It takes Rules.
func Read[L any](ctx context.Context, client kubernetes.Interface, namespace string, parse func(map[string]string) (L, error)) (list L, err error) {
	config, err := apiwriter.Found(client.CoreV1().ConfigMaps(namespace).Get(ctx, configMap, metav1.GetOptions{}))
	if err != nil {
		return list, fmt.Errorf("read ConfigMap %s/%s: %w", namespace, configMap, err)
	}
	if config == nil {
		return list, nil
	}
	if list, err = parse(config.Data); err != nil {
		return list, fmt.Errorf("ConfigMap %s/%s: %w", namespace, configMap, err)
	}
	return list, nil
}

// Await is Read for the start of a program. It waits for an API server that does not answer, and goes without a white list that is
// none, which the log says. It returns an error only when the context is done.
func Await[L any](ctx context.Context, client kubernetes.Interface, namespace string, parse func(map[string]string) (L, error)) (none L, err error) {
	for {
		list, err := Read(ctx, client, namespace, parse)
		if err == nil {
			return list, nil
		}
		klog.FromContext(ctx).Error(err, "The kinds of the white list are not known")
		var syntax *json.SyntaxError
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &syntax) || errors.As(err, &wrong) {
			return none, nil
		}
		select {
		case <-ctx.Done():
			return none, fmt.Errorf("%w: %w", context.Cause(ctx), err)
		case <-time.After(time.Second):
		}
	}
}

// Resource returns the plural name of a kind. The API server has to serve it, and the client's user to be allowed to list
// and watch it in a namespace, empty for all. If not, it is empty: a cache would never be filled. The log says why, with the
// name of the objects that do without. It takes no rule that not every user has.
func Resource(ctx context.Context, client kubernetes.Interface, kind schema.GroupVersionKind, namespace, objects string) (string, error) {
	served, err := typedclient.FindServed(ctx, client.Discovery(), kind.GroupVersion(), func(r *metav1.APIResource) bool { return r.Kind == kind.Kind && r.Namespaced })
	if err != nil {
		return "", err
	}
	if served == nil {
		klog.FromContext(ctx).Info(objects+" do not know a kind of the white list until the next start, because it is not served", "kind", kind)
		return "", nil
	}
	name := served.Name
	may, err := mayRead(ctx, client, kind.GroupVersion().WithResource(name), namespace)
	if err != nil {
		return "", err
	}
	if !may {
		klog.FromContext(ctx).Info(objects+" do not know a kind of the white list until the next start, because the manager may not list and watch it", "kind", kind)
		return "", nil
	}
	return name, nil
}

// mayRead asks the API server whether a resource may be listed and watched.
func mayRead(ctx context.Context, client kubernetes.Interface, resource schema.GroupVersionResource, namespace string) (bool, error) {
	for _, verb := range []string{"list", "watch"} {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: verb, Group: resource.Group, Version: resource.Version, Resource: resource.Resource}}}
		answer, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err != nil || !answer.Status.Allowed {
			return false, err
		}
	}
	return true, nil
}
