// SPDX-License-Identifier: Apache-2.0

package features_test

import (
	"fmt"

	"github.com/podwright/podwright/examples/process/features"
)

// A gate that another one needs cannot be on without it.
func ExampleFlags_Parse() {
	gates, err := features.Flags{Gates: "KruiseDaemon=false,InPlaceUpdateEnvFromMetadata=true,CloneSetShortHash=true"}.Parse()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("short hash:", gates.Enabled(features.CloneSetShortHash))
	fmt.Println("env from metadata:", gates.Enabled(features.InPlaceUpdateEnvFromMetadata))
	// Output:
	// short hash: true
	// env from metadata: false
}
