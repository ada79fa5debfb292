//! Destructive commands for containers, clusters and their volumes.

use super::{
    Rule,
    When::{Flag, Later, Line, Named, NoFlag, Text},
    rule,
};
use crate::{
    place::Place,
    word::{Gaps, Word},
};

pub(super) const RULES: &[Rule] = &[
    rule("docker podman nerdctl", "removes everything that is not running").sub("system prune|system reset").examples(
        &[
            "docker system prune",
            "docker --context prod system prune -f",
            "docker system prune -af --volumes",
            "podman system reset",
        ],
        &["docker system df", "docker image prune"],
    ),
    rule("docker podman nerdctl", "removes volumes with their data")
        .sub("volume rm|volume remove|volume prune")
        .examples(&["docker volume rm x", "docker volume prune -f"], &["docker volume ls"]),
    rule("docker podman nerdctl docker-compose podman-compose", "removes volumes with their data")
        .sub("compose down|down|compose rm|rm")
        .when(&[Flag("-v --volumes")])
        .examples(
            &["docker compose down -v", "docker-compose down --volumes", "docker rm -fv x"],
            &["docker compose down", "docker rm x"],
        ),
    rule("docker", "leaves or dissolves the swarm")
        .sub("swarm leave|stack rm|secret rm|config rm")
        .examples(&["docker swarm leave --force", "docker stack rm x"], &["docker stack ls"]),
    rule("docker podman nerdctl", "gives a container the whole disk")
        .sub("run|container run|create")
        .when(&[Flag("--privileged"), Text("/:/ source=/,")])
        .examples(&["docker run --privileged -v /:/host alpine"], &["docker run nginx", "docker run -v /data:/data x"]),
    rule("docker podman nerdctl", "removes files of the disk that it is given")
        .sub("run|container run")
        .when(&[Named("/:* /home:* /etc:* /usr:* /var:*"), Later("rm"), Flag("-r -R --recursive")])
        .examples(
            &["docker run -v /:/host alpine rm -rf /host"],
            &["docker run -v /srv:/x alpine rm -rf /x/y", "docker run -v /:/host alpine ls /host"],
        ),
    rule("kubectl oc k kubecolor", "deletes a whole namespace, or everything in one")
        .sub("delete")
        .when(&[Named(
            "namespace* namespaces ns ns/* project* all pv pvc pv/* pvc/* persistentvolume* node node/* nodes crd \
             crd/* customresourcedefinition* cluster* storageclass*",
        )])
        .examples(
            &[
                "kubectl delete namespace prod",
                "kubectl delete ns x",
                "kubectl delete all --all",
                "kubectl -n x delete pvc data",
            ],
            &["kubectl delete pod x", "kubectl get ns"],
        ),
    rule("kubectl oc k kubecolor", "deletes everything of a kind")
        .sub("delete")
        .when(&[Flag("--all -A --all-namespaces")])
        .examples(&["kubectl delete pods --all", "kubectl delete deploy --all -n x"], &["kubectl delete deploy x"]),
    rule("kubectl oc k kubecolor", "deletes everything that a directory describes")
        .sub("delete")
        .when(&[Flag("-f --filename -k --kustomize"), Line(names_a_directory)])
        .examples(
            &[
                "kubectl delete -f .",
                "kubectl delete -f k8s/",
                "kubectl delete -k overlays/prod",
                "kubectl delete -R -f manifests",
                "kubectl delete -f -",
            ],
            &["kubectl delete -f pod.yaml", "kubectl delete --filename=x.json"],
        ),
    rule("helm helm3 helm2", "removes a release with all it made")
        .sub("uninstall|delete|del|un")
        .when(&[NoFlag("--dry-run")])
        .examples(&["helm uninstall x", "helm delete x --purge"], &["helm list", "helm uninstall --dry-run x"]),
    rule("helmfile skaffold tilt garden argocd flux", "removes what was deployed")
        .sub("destroy|delete|app delete|uninstall")
        .examples(
            &["helmfile destroy", "skaffold delete", "argocd app delete x"],
            &["helmfile diff", "argocd app list"],
        ),
    rule("istioctl linkerd cilium consul-k8s", "takes the network of a cluster down")
        .sub("uninstall|experimental uninstall")
        .examples(&["istioctl uninstall --purge", "linkerd uninstall"], &["istioctl version"]),
    rule("podman", "removes a machine, or every pod")
        .sub("machine rm|machine reset|pod rm")
        .when(&[Flag("-f -a -af --all --force")])
        .examples(&["podman machine rm -f", "podman pod rm -af"], &["podman machine list", "podman pod rm x"]),
    rule("docker podman nerdctl", "removes all containers or images there are")
        .sub("rm|rmi|container rm|image rm")
        .when(&[Line(names_all_there_are)])
        .examples(
            &["docker rm -f $(docker ps -aq)", "docker images -q | xargs docker rmi -f", "podman rm -fa"],
            &["docker rm x", "docker rmi a b", "docker rm $id"],
        ),
    rule("crictl ctr", "removes everything")
        .when(&[Flag("-a --all --prune -af"), Named("rm rmi rmp")])
        .examples(&["crictl rm -a"], &["crictl ps -a"]),
    rule("etcdctl", "deletes keys by the range")
        .sub("del")
        .when(&[Flag("--prefix --from-key --range")])
        .examples(&["etcdctl del '' --prefix"], &["etcdctl get x"]),
    rule("velero", "deletes backups")
        .sub("backup delete|schedule delete")
        .examples(&["velero backup delete x"], &["velero backup get"]),
    rule("kubeadm k3s-uninstall.sh rke2-uninstall.sh", "takes a node apart")
        .when(&[NoFlag("--help version")])
        .sub("reset")
        .examples(&["kubeadm reset -f"], &["kubeadm version"]),
    rule("dokku caprover kamal nomad", "destroys an application")
        .sub("apps:destroy|postgres:destroy|remove|job stop -purge|app remove")
        .examples(&["dokku apps:destroy x", "kamal remove"], &["dokku apps:list"]),
];

/// Returns true if the manifests come from a kustomization or from a path that is not a YAML or JSON file. Such a
/// source may describe several objects that the command does not name.
fn names_a_directory(words: &[Word], _: &Place) -> bool {
    let mut words = words.iter().map(Word::text);
    while let Some(word) = words.next() {
        let named = match word {
            "-k" | "--kustomize" => return true,
            "-f" | "--filename" => words.next(),
            _ if word.starts_with("--kustomize=") => return true,
            _ => word.strip_prefix("--filename=").or_else(|| word.strip_prefix("-f")),
        };
        let file = |name: &str| [".yaml", ".yml", ".json"].iter().any(|end| name.ends_with(end));
        if named.is_some_and(|name| !file(name) && !name.is_empty() && !name.has_optional()) {
            return true;
        }
    }
    false
}

/// Returns true for `--all`, or for a forced removal of operands that another command lists.
fn names_all_there_are(words: &[Word], _: &Place) -> bool {
    let all =
        |text: &str| matches!(text, "--all" | "-a") || (text.starts_with("-f") && text.contains('a') && text.len() < 5);
    let listed = words.iter().any(|word| word.is_open() || (word.has_output() && word.may_split()));
    words.iter().any(|word| all(word.text()))
        || listed && words.iter().any(|word| word.text().starts_with("-f") || word.text() == "--force")
}
