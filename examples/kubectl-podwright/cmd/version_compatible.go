// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"fmt"
	"path"
	"strings"

	utilversion "k8s.io/apimachinery/pkg/util/version"
)

// managerRepository ends the repository of the manager's image, wherever a user mirrors it.
const managerRepository = "podwright-manager"

// tagged returns the tag of an image if it is a version; otherwise nothing.
func tagged(image string) string {
	image, _, _ = strings.Cut(image, "@")
	_, tag, _ := strings.Cut(path.Base(image), ":")
	if released(tag) == nil {
		return ""
	}
	return tag
}

// repository returns the last part of an image's repository.
func repository(image string) string {
	image, _, _ = strings.Cut(image, "@")
	name, _, _ := strings.Cut(path.Base(image), ":")
	return name
}

// released reads the version of a release; nil for any other text. What Go says of a build between two releases is none.
func released(text string) *utilversion.Version {
	parsed, err := utilversion.ParseSemantic(text)
	if err != nil || parsed.PreRelease() != "" || parsed.BuildMetadata() != "" || parsed.Major() == 0 && parsed.Minor() == 0 {
		return nil
	}
	return parsed
}

// compatible tells whether the plugin says what the manager does, and why. (KC-23)
func compatible(v *versions) (answer, reason string) {
	plugin := released(v.Plugin.Version)
	switch m := v.Manager; {
	case v.Kubernetes == "":
		return "Unknown", "the API server was not read"
	case len(v.Served) == 0:
		return "No", "the API server serves no kinds of podwright: the CRDs are not installed"
	case m == nil:
		return "Unknown", "no manager is known to run"
	case repository(m.Image) != managerRepository:
		return "Unknown", "the image " + m.Image + " is not that of podwright's manager: plan and explain say what podwright would do"
	case plugin == nil:
		return "Unknown", "the plugin is no release, but " + v.Plugin.Version
	case m.Version == "":
		return "Unknown", "the image " + m.Image + " does not say of which release the manager is"
	default:
		manager := released(m.Version)
		if plugin.Major() == manager.Major() && plugin.Minor() == manager.Minor() {
			return "Yes", fmt.Sprintf("both are of v%d.%d", plugin.Major(), plugin.Minor())
		}
		return "No", fmt.Sprintf("plan and explain say what v%d.%d would do: use the plugin of v%d.%d", plugin.Major(), plugin.Minor(), manager.Major(), manager.Minor())
	}
}
