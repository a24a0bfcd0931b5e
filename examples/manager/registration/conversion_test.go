package registration

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podwright/podwright/workloads/conversion"
)

type object = map[string]any

// definition is a CRD with this spec.conversion; without one where it is nil.
func definition(name string, spec object) *unstructured.Unstructured {
	d := &unstructured.Unstructured{Object: object{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": object{"name": name, "resourceVersion": "7"}, "spec": object{},
	}}
	if spec != nil {
		d.Object["spec"] = object{"conversion": spec}
	}
	return d
}

// webhookAt is the spec.conversion of a webhook.
func webhookAt(client object, versions ...any) object {
	return object{"strategy": "Webhook", "webhook": object{"clientConfig": client, "conversionReviewVersions": versions}}
}

func TestConversion(t *testing.T) {
	service, url := byService, byURL
	service.Serves, url.Serves = serves(conversion.Path), serves(conversion.Path)
	atService := object{"service": object{"namespace": "kruise-system", "name": "hooks", "path": "/convert", "port": int64(443)}, "caBundle": "Y2E="}
	at := object{"url": "https://10.0.0.1:9876/convert", "caBundle": "Y2E="}
	cases := map[string]struct {
		target    Target
		name      string // default: ConvertedName
		standing  object
		want      object
		unchanged bool
	}{
		"PF-5: by the Service":                    {target: service, standing: object{"strategy": "None"}, want: webhookAt(atService, "v1")},
		"PF-5: by URL, with a webhook host":       {target: url, standing: object{"strategy": "None"}, want: webhookAt(at, "v1")},
		"PF-5: no conversion at all":              {target: service, want: webhookAt(atService, "v1")},
		"PF-5: it stands":                         {target: service, standing: webhookAt(atService, "v1"), want: webhookAt(atService, "v1"), unchanged: true},
		"PF-5: the Service becomes a URL":         {target: url, standing: webhookAt(atService, "v1"), want: webhookAt(at, "v1")},
		"PF-5: a new CA":                          {target: url, standing: webhookAt(object{"url": at["url"], "caBundle": "b2xk"}, "v1"), want: webhookAt(at, "v1")},
		"PF-5: a manifest without CA":             {target: url, standing: webhookAt(object{"url": at["url"]}, "v1"), want: webhookAt(at, "v1")},
		"PF-5: OpenKruise's versions are as good": {target: url, standing: webhookAt(at, "v1", "v1beta1"), want: webhookAt(at, "v1", "v1beta1"), unchanged: true},
		"PF-5: they stay when something changes":  {target: service, standing: webhookAt(at, "v1beta1", "v1"), want: webhookAt(atService, "v1beta1", "v1")},
		"PF-5: versions without v1 do not":        {target: url, standing: webhookAt(at, "v1beta1"), want: webhookAt(at, "v1")},
		"PF-5: a kind with one version": {
			target: url, name: "clonesets.apps.kruise.io", standing: object{"strategy": "None"}, want: object{"strategy": "None"}, unchanged: true,
		},
		"no conversion is served": {target: byURL, standing: object{"strategy": "None"}, want: object{"strategy": "None"}, unchanged: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.name == "" {
				c.name = ConvertedName
			}
			current := definition(c.name, c.standing)
			got, err := Conversion(current, c.target)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(definition(c.name, c.want), got); diff != "" {
				t.Errorf("definition (-want +got):\n%s", diff)
			}
			if (got == current) != c.unchanged {
				t.Errorf("unchanged: %v, want %v", got == current, c.unchanged)
			}
			if diff := cmp.Diff(definition(c.name, c.standing), current); diff != "" {
				t.Errorf("the object of the cache was modified:\n%s", diff)
			}
			if again, err := Conversion(got, c.target); err != nil || again != got {
				t.Errorf("a second look wants another change (%v):\n%s", err, cmp.Diff(got, again))
			}
		})
	}
	if got, err := Conversion(nil, url); got != nil || err != nil {
		t.Errorf("a definition that is not installed: %v, %v", got, err)
	}
	broken := definition(ConvertedName, nil)
	broken.Object["spec"] = "x"
	if _, err := Conversion(broken, url); err == nil {
		t.Error("no error for a definition whose spec is no object")
	}
}
