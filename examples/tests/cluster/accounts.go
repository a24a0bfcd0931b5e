// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/podwright/podwright/examples/kit/permissions"
)

// accountLifetime is how long the token of an account is valid.
const accountLifetime = 24 * time.Hour

// Account is a ServiceAccount that programs outside of pods use.
type Account struct {
	// User is its name, as an audit log shows it.
	User string
	// Kubeconfig is the path of a file with its token, which is valid for a day.
	Kubeconfig string

	namespace, name string
}

// Account applies a manifest with one ServiceAccount, and roles, bindings and policies for it, and returns the account when it
// has all its rights. Namespaces are created if they are missing. Policies come into force a moment later.
func (c *Cluster) Account(ctx context.Context, manifest []byte) (*Account, error) {
	objects, err := permissions.Objects(manifest)
	if err != nil {
		return nil, err
	}
	core, err := kubernetes.NewForConfig(c.Config())
	if err != nil {
		return nil, err
	}
	var account *unstructured.Unstructured
	for _, object := range objects {
		if object.GetKind() == "ServiceAccount" {
			account = object
		}
		if err := c.apply(ctx, core, object); err != nil {
			return nil, fmt.Errorf("apply the %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	if account == nil {
		return nil, errors.New("the manifest has no ServiceAccount")
	}
	a := &Account{
		User:       "system:serviceaccount:" + account.GetNamespace() + ":" + account.GetName(),
		Kubeconfig: filepath.Join(c.dir, kubeconfigFile(account.GetName())),
		namespace:  account.GetNamespace(), name: account.GetName(),
	}
	if err := c.writeToken(ctx, core, a, nil); err != nil {
		return nil, err
	}
	return a, a.awaitRights(ctx, core, objects)
}

// Bound returns an account with a token that is bound to an object, as that of a kubelet is to a pod. It is valid while
// that exists, and the API server knows the node by it. The object is a pod of the account's namespace, or a node, with
// its UID.
func (c *Cluster) Bound(ctx context.Context, account *Account, to *authenticationv1.BoundObjectReference) (*Account, error) {
	core, err := kubernetes.NewForConfig(c.Config())
	if err != nil {
		return nil, err
	}
	bound := *account
	bound.Kubeconfig = filepath.Join(c.dir, kubeconfigFile(account.name+"-"+strings.ToLower(to.Kind)+"-"+to.Name))
	return &bound, c.writeToken(ctx, core, &bound, to)
}

// writeToken writes the kubeconfig of an account, with a new token.
func (c *Cluster) writeToken(ctx context.Context, core kubernetes.Interface, a *Account, to *authenticationv1.BoundObjectReference) error {
	seconds := int64(accountLifetime / time.Second)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds, BoundObjectRef: to}}
	request, err := core.CoreV1().ServiceAccounts(a.namespace).CreateToken(ctx, a.name, request, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("a token for the ServiceAccount %s: %w", a.name, err)
	}
	config, err := clientcmd.LoadFromFile(c.Kubeconfig())
	if err != nil {
		return err
	}
	config.AuthInfos[adminUser].Token = request.Status.Token
	return clientcmd.WriteToFile(*config, a.Kubeconfig)
}

func (c *Cluster) apply(ctx context.Context, core kubernetes.Interface, object *unstructured.Unstructured) error {
	objects, err := dynamic.NewForConfig(c.Config())
	if err != nil {
		return err
	}
	if name := object.GetNamespace(); name != "" {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := core.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	version, err := schema.ParseGroupVersion(object.GetAPIVersion())
	if err != nil {
		return err
	}
	resource, _ := meta.UnsafeGuessKindToResource(version.WithKind(object.GetKind()))
	_, err = objects.Resource(resource).Namespace(object.GetNamespace()).Apply(ctx, object.GetName(), object,
		metav1.ApplyOptions{FieldManager: "podwright-cluster", Force: true})
	return err
}

// awaitRights returns when the API server knows of the first right of every role.
func (a *Account) awaitRights(ctx context.Context, core kubernetes.Interface, objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		var role rbacv1.ClusterRole // a Role has the same fields
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &role); err != nil || len(role.Rules) == 0 {
			continue // something else
		}
		rule := role.Rules[0]
		resource, subresource, _ := strings.Cut(rule.Resources[0], "/")
		wanted := &authorizationv1.ResourceAttributes{
			Namespace: role.Namespace, Verb: rule.Verbs[0], Group: rule.APIGroups[0], Resource: resource, Subresource: subresource,
		}
		if len(rule.ResourceNames) > 0 {
			wanted.Name = rule.ResourceNames[0]
		}
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: a.User, ResourceAttributes: wanted}}
		err := poll(ctx, "the rights of "+a.User, func() (bool, error) {
			answer, err := core.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
			return err == nil && answer.Status.Allowed, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
