// SPDX-License-Identifier: Apache-2.0

package app

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podwright/podwright/examples/kit/permissions"
	"github.com/podwright/podwright/examples/process/features"
)

// What is switched off takes its rules along.
func TestPermissions(t *testing.T) {
	type request struct{ verb, group, resource, namespace, name string }
	anywhere := request{"watch", "", "pods", "shop", ""}
	pull := request{"create", "apps.kruise.io", "imagepulljobs", "shop", ""}
	node := request{"create", "apps.kruise.io", "nodeimages", "", ""}
	lease := request{"update", "coordination.k8s.io", "leases", "kruise-system", "kruise-manager"}
	secret := request{"patch", "", "secrets", "kruise-system", "kruise-webhook-certs"}
	hooks := request{"create", "admissionregistration.k8s.io", "validatingwebhookconfigurations", "", ""}
	install := request{"create", "apiextensions.k8s.io", "customresourcedefinitions", "", "clonesets.apps.kruise.io"}
	namespace := request{"create", "", "namespaces", "", "kruise-system"}
	cases := map[string]struct {
		flags       string
		allowed, no []request
	}{
		"PF-9: the defaults":     {"", []request{anywhere, node, lease, secret, hooks, pull}, []request{install, namespace}},
		"ILP-3: no images ahead": {"--feature-gates=ImagePullJobGate=false", nil, []request{pull}},
		"PF-9: other Secrets":    {"", nil, []request{{"patch", "", "secrets", "kruise-system", "other"}, {"patch", "", "secrets", "shop", "kruise-webhook-certs"}}},
		"PF-9: copies of Secrets": {"", []request{{"create", "", "secrets", "kruise-daemon-config", ""}, {"get", "", "secrets", "shop", "registry"}},
			[]request{{"list", "", "secrets", "shop", ""}, {"create", "", "secrets", "shop", ""}, {"delete", "", "secrets", "kruise-system", "other"}}},
		"PF-9: no copies of Secrets":   {"--imagepulljob-refer-to-source-secrets", nil, []request{{"get", "", "secrets", "shop", "registry"}}},
		"RD-6: distributed Secrets":    {"--feature-gates=ResourceDistributionGate=true", []request{{"create", "", "secrets", "shop", ""}, {"patch", "apps.kruise.io", "resourcedistributions/status", "", ""}}, nil},
		"RD-18: who may name a source": {"--feature-gates=ResourceDistributionGate=true --resourcedistribution-sources", []request{{"create", "authorization.k8s.io", "subjectaccessreviews", "", ""}}, nil},
		"RD-18: no sources":            {"--feature-gates=ResourceDistributionGate=true", nil, []request{{"create", "authorization.k8s.io", "subjectaccessreviews", "", ""}}},
		"WS-7: what places pods":       {"", []request{{"watch", "apps.kruise.io", "workloadspreads", "shop", ""}, {"watch", "batch", "jobs", "shop", ""}, {"get", "", "configmaps", "kruise-system", "kruise-configuration"}}, nil},
		"WS-7: in one namespace": {"--namespace=shop", []request{{"watch", "apps.kruise.io", "workloadspreads", "shop", ""}, {"watch", "apps.kruise.io", "persistentpodstates", "shop", ""}, {"watch", "", "nodes", "", ""}},
			[]request{{"watch", "apps.kruise.io", "workloadspreads", "bank", ""}, {"watch", "apps.kruise.io", "persistentpodstates", "bank", ""}, {"watch", "batch", "jobs", "bank", ""}}},
		"no WorkloadSpreads":      {"--feature-gates=WorkloadSpread=false", nil, []request{{"watch", "apps.kruise.io", "workloadspreads", "shop", ""}}},
		"PF-9: other Leases":      {"", nil, []request{{"update", "coordination.k8s.io", "leases", "kruise-system", "other"}}},
		"without agents":          {"--feature-gates=KruiseDaemon=false", []request{anywhere}, []request{node}},
		"images ahead of updates": {"--feature-gates=PreDownloadImageForInPlaceUpdate=true", []request{pull}, nil},
		"sidecars of Jobs":        {"--feature-gates=SidecarTerminator=true", []request{{"create", "apps.kruise.io", "containerrecreaterequests", "shop", ""}}, nil},
		"and not by default":      {"", nil, []request{{"create", "apps.kruise.io", "containerrecreaterequests", "shop", ""}}},
		"nor without agents":      {"--feature-gates=SidecarTerminator=true,KruiseDaemon=false", nil, []request{{"create", "apps.kruise.io", "containerrecreaterequests", "shop", ""}}},
		"DP-9: further CRDs": {"--deletion-protection-crds=carts.shop.io", []request{{"list", "shop.io", "carts", "shop", ""}, {"list", "", "pods", "shop", ""}},
			[]request{{"list", "shop.io", "orders", "shop", ""}, {"watch", "shop.io", "carts", "shop", ""}}},
		"DP-9: not protected":        {"--deletion-protection-crds=carts.shop.io --feature-gates=ResourcesDeletionProtection=false", nil, []request{{"list", "shop.io", "carts", "shop", ""}}},
		"budgets":                    {"", []request{{"patch", "policy.kruise.io", "podunavailablebudgets/status", "shop", ""}, {"list", "apps", "replicasets", "shop", ""}}, nil},
		"no budgets":                 {"--feature-gates=PodWebhook=false", nil, []request{{"patch", "policy.kruise.io", "podunavailablebudgets/status", "shop", ""}, {"list", "apps", "replicasets", "shop", ""}}},
		"PUB-30: no mirrors":         {"", nil, []request{{"list", "policy", "poddisruptionbudgets", "shop", ""}}},
		"PUB-30: mirrors":            {"--podunavailablebudget-mirror=Annotated", []request{{"create", "policy", "poddisruptionbudgets", "shop", ""}, {"watch", "policy", "poddisruptionbudgets", "shop", ""}}, nil},
		"PUB-30: no more mirrors":    {"--podunavailablebudget-mirror=Remove", []request{{"delete", "policy", "poddisruptionbudgets", "shop", ""}}, nil},
		"PUB-23: no other workloads": {"", nil, []request{{"get", "argoproj.io", "rollouts", "shop", "web"}, {"get", "argoproj.io", "rollouts/scale", "shop", "web"}}},
		"PUB-23: other workloads": {"--podunavailablebudget-crds=rollouts.argoproj.io", []request{{"get", "argoproj.io", "rollouts", "shop", "web"}, {"get", "argoproj.io", "rollouts/scale", "shop", "web"}},
			[]request{{"list", "argoproj.io", "rollouts", "shop", ""}, {"patch", "argoproj.io", "rollouts/scale", "shop", "web"}, {"get", "argoproj.io", "experiments", "shop", "web"}}},
		"WS-35: no other workloads": {"", nil, []request{{"list", "argoproj.io", "rollouts", "shop", ""}}},
		"WS-35: other workloads": {"--workloadspread-crds=rollouts.argoproj.io", []request{{"list", "argoproj.io", "rollouts", "shop", ""}, {"watch", "argoproj.io", "rollouts", "shop", ""}},
			[]request{{"get", "argoproj.io", "rollouts", "shop", "web"}, {"list", "argoproj.io", "experiments", "shop", ""}}},
		"PPS-2: other workloads":   {"--persistentpodstate-crds=games.example.com", []request{{"list", "example.com", "games", "shop", ""}, {"watch", "example.com", "games", "shop", ""}}, nil},
		"no declarative evictions": {"", nil, []request{{"list", "lifecycle.k8s.io", "evictions", "shop", ""}, {"create", "", "pods/eviction", "shop", "web-0"}}},
		"declarative evictions":    {"--feature-gates=EvictionResponder=true", []request{{"patch", "lifecycle.k8s.io", "evictions/status", "shop", "web-0"}, {"create", "", "pods/eviction", "shop", "web-0"}}, nil},
		"IP-36: resizes":           {"--feature-gates=InPlaceWorkloadVerticalScaling=true", []request{{"patch", "", "pods/resize", "shop", "web-0"}}, nil},
		"IP-36: no resizes":        {"", nil, []request{{"patch", "", "pods/resize", "shop", "web-0"}}},
		"STS-40: claims grow":      {"--feature-gates=StatefulSetAutoResizePVCGate=true", []request{{"get", "storage.k8s.io", "storageclasses", "", "fast"}, {"list", "storage.k8s.io", "storageclasses", "", ""}}, nil},
		"STS-40: without webhooks": {"--feature-gates=StatefulSetAutoResizePVCGate=true --enable-webhooks=false", []request{{"get", "storage.k8s.io", "storageclasses", "", "fast"}}, []request{{"list", "storage.k8s.io", "storageclasses", "", ""}}},
		"STS-40: claims stay":      {"--release=1.9", nil, []request{{"get", "storage.k8s.io", "storageclasses", "", "fast"}}},
		"one replica":              {"--leader-elect=false", []request{anywhere}, []request{lease}},
		"a Lease elsewhere":        {"--leader-election-namespace=a", []request{{"update", "coordination.k8s.io", "leases", "a", "kruise-manager"}}, []request{lease}},
		"no webhooks":              {"--enable-webhooks=false", []request{anywhere}, []request{secret, hooks}},
		"registered by others":     {"--register-webhooks=false", []request{secret}, []request{hooks}},
		"certificates in a folder": {"--webhook-cert-writer=fs", []request{hooks}, []request{secret}},
		"PF-5.4: certificates of another program": {"--feature-gates=EnableExternalCerts=true", []request{hooks, {"get", "", "secrets", "kruise-system", "kruise-webhook-certs"}},
			[]request{secret, {"list", "", "secrets", "kruise-system", "kruise-webhook-certs"}, {"create", "", "secrets", "kruise-system", ""}}},
		"PF-5.4: which also registers": {"--feature-gates=EnableExternalCerts=true --register-webhooks=false",
			[]request{{"get", "admissionregistration.k8s.io", "validatingwebhookconfigurations", "", "kruise-validating-webhook-configuration"}}, []request{secret, hooks}},
		"PF-5.4: AllAlpha of 1.4 is not about it": {"--feature-gates=AllAlpha=true,AllBeta=true", []request{secret}, nil},
		"PF-5.4: AllAlpha of 1.9 is":              {"--release=1.9 --feature-gates=AllAlpha=true,AllBeta=true", nil, []request{secret}},
		"CRDs":                                    {"--install-crds", []request{install}, []request{{"patch", "apiextensions.k8s.io", "customresourcedefinitions", "", "other"}}},
		"CRDs of what runs":                       {"--install-crds --feature-gates=KruiseDaemon=false", []request{install}, []request{{"create", "apiextensions.k8s.io", "customresourcedefinitions", "", "nodeimages.apps.kruise.io"}}},
		"the own namespace":                       {"--create-own-namespace", []request{namespace}, nil},
		"one namespace":                           {"--namespace=shop", []request{anywhere, node}, []request{{"watch", "", "pods", "bank", ""}, {"watch", "", "pods", "", ""}}},
		"one namespace, other names":              {"--namespace=shop --own-namespace=a", []request{{"patch", "", "secrets", "a", "kruise-webhook-certs"}}, []request{secret}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			parts, err := Permissions(mustParse(t, strings.Fields(c.flags)...))
			if err != nil {
				t.Fatal(err)
			}
			for want, requests := range map[bool][]request{true: c.allowed, false: c.no} {
				for _, r := range requests {
					got := slices.ContainsFunc(parts, func(p permissions.Part) bool { return p.Allows(r.verb, r.group, r.resource, r.namespace, r.name) })
					if got != want {
						t.Errorf("%v is allowed: %t, want %t", r, got, want)
					}
				}
			}
		})
	}
}

// What the table of kinds needs is what rbac/manager.yaml grants, and no more.
func TestManifestOfDefaults(t *testing.T) {
	want, err := Manifest(mustParse(t))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../rbac/manager.yaml")
	if diff := cmp.Diff(string(want), string(got)); err != nil || diff != "" {
		t.Errorf("error %v; make generate writes rbac/manager.yaml (-want +got):\n%s", err, diff)
	}
}

func TestManifest(t *testing.T) {
	manifest, err := Manifest(mustParse(t, "--own-namespace=a"))
	if err != nil || !strings.Contains(string(manifest), "kind: ServiceAccount\nmetadata:\n  name: podwright-manager\n  namespace: a\n") {
		t.Errorf("error %v, manifest:\n%s", err, manifest)
	}
	if _, err := Manifest(Config{Features: features.Flags{Gates: "x"}}); err == nil {
		t.Error("wrong gates have rules")
	}
}
