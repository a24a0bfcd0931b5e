// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/examples/kit/crds"
	"github.com/podwright/podwright/manager"
)

// Unregister removes what servers behind a Service have registered: the two configurations, and the conversion in definitions that
// leads to the Service. What is not there is no error. Servers that still run register again.
func Unregister(ctx context.Context, core kubernetes.Interface, client dynamic.Interface, service types.NamespacedName) error {
	admission := core.AdmissionregistrationV1()
	errs := []error{
		ignoreNotFound(admission.MutatingWebhookConfigurations().Delete(ctx, manager.MutatingName, metav1.DeleteOptions{})),
		ignoreNotFound(admission.ValidatingWebhookConfigurations().Delete(ctx, manager.ValidatingName, metav1.DeleteOptions{})),
	}
	for _, name := range slices.Concat([]string{ConvertedName}, namesOnDemand()) {
		if err := ignoreNotFound(unconvert(ctx, client, name, service)); err != nil {
			errs = append(errs, fmt.Errorf("removing the conversion webhook from the CRD %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// unconvert has the API server change nothing but the version of objects, if it asks the Service now.
func unconvert(ctx context.Context, client dynamic.Interface, name string, service types.NamespacedName) error {
	crd, err := client.Resource(crds.Resource).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	asked, _, _ := unstructured.NestedMap(crd.Object, "spec", "conversion", "webhook", "clientConfig", "service")
	if asked["namespace"] != service.Namespace || asked["name"] != service.Name {
		return nil
	}
	patch := []byte(`{"spec":{"conversion":{"strategy":"None","webhook":null}}}`)
	_, err = client.Resource(crds.Resource).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: managedBy})
	return err
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
