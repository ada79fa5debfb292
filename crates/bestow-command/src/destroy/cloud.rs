//! Destructive commands of clouds and hosting platforms, which lose the data that they delete.

use super::{
    Rule,
    When::{Flag, Line, Named, NoFlag, Text},
    rule,
};
use crate::{place::Place, word::Word};

pub(super) const RULES: &[Rule] = &[
    rule("railway", "deletes a service or a project")
        .sub("service delete|service remove|volume delete|environment delete|delete|down|project delete|service rm")
        .examples(
            &["railway service delete", "railway service delete --service web -y", "railway down"],
            &["railway up", "railway status"],
        ),
    rule("aws", "deletes in the cloud")
        .when(&[
            Named(
                "delete-* terminate-* deregister-* purge-* remove-* batch-delete-* schedule-key-deletion detach-* \
                 revoke-* destroy-* reset-*",
            ),
            NoFlag("--dry-run"),
        ])
        .examples(
            &[
                "aws ec2 terminate-instances --instance-ids i",
                "aws rds delete-db-instance --db-instance-identifier x",
                "aws --profile p dynamodb delete-table --table-name t",
                "aws cloudformation delete-stack --stack-name x",
            ],
            &["aws ec2 describe-instances", "aws s3 ls", "aws ec2 run-instances"],
        ),
    rule("aws", "deletes stored objects")
        .sub("s3 rb|s3api delete-bucket")
        .examples(&["aws s3 rb s3://b --force"], &["aws s3 mb s3://b"]),
    rule("aws", "deletes stored objects")
        .sub("s3 rm")
        .when(&[Flag("--recursive"), NoFlag("--dryrun")])
        .examples(&["aws s3 rm s3://b --recursive"], &["aws s3 rm s3://b/x", "aws s3 rm s3://b --recursive --dryrun"]),
    rule("aws", "closes an account")
        .sub("organizations close-account|account close-account")
        .examples(&["aws organizations close-account --account-id 1"], &["aws organizations list-accounts"]),
    rule("hdfs hadoop", "deletes stored files with all below them").when(&[Line(removes_below)]).examples(
        &["hdfs dfs -rm -r /", "hadoop fs -rmr /user/x", "hdfs dfs -rm -r -skipTrash /data"],
        &["hdfs dfs -ls -R /", "hdfs dfs -put a /", "hdfs dfs -rm /tmp/x"],
    ),
    rule("hdfs hadoop", "throws stored files away for good")
        .when(&[Flag("-expunge -format -deleteSnapshot")])
        .examples(&["hdfs dfs -expunge", "hdfs namenode -format"], &["hdfs dfsadmin -report"]),
    rule("aws", "deletes stored objects")
        .sub("s3 sync")
        .when(&[Flag("--delete"), NoFlag("--dryrun")])
        .examples(&["aws s3 sync . s3://b --delete"], &["aws s3 sync . s3://b"]),
    rule("gcloud", "deletes in the cloud").when(&[Named("delete purge destroy remove"), NoFlag("--help")]).examples(
        &[
            "gcloud compute instances delete x",
            "gcloud projects delete p -q",
            "gcloud --project p sql instances delete x",
        ],
        &["gcloud compute instances list"],
    ),
    rule("gcloud", "deletes stored objects")
        .sub("storage rm|storage buckets delete")
        .when(&[Text("-r -R ** --recursive")])
        .examples(&["gcloud storage rm -r gs://x"], &["gcloud storage ls gs://x"]),
    rule("az", "deletes in the cloud").when(&[Named("delete purge delete-* delete-batch")]).examples(
        &["az group delete -n x --yes", "az vm delete -n x", "az storage blob delete-batch -s x"],
        &["az vm list"],
    ),
    rule("gsutil", "deletes stored objects").when(&[Named("rb rm"), Text("-r -R -a rb -mr *")]).examples(
        &["gsutil rm -r gs://b", "gsutil -m rm -r gs://b", "gsutil rb gs://b", "gsutil rm gs://b/*"],
        &["gsutil ls gs://b", "gsutil rm gs://b/x"],
    ),
    rule("gsutil gcloud", "deletes what is not in the source")
        .sub("rsync|storage rsync")
        .when(&[Flag("-d --delete-unmatched-destination-objects"), NoFlag("-n --dry-run")])
        .examples(
            &[
                "gsutil -m rsync -d -r empty gs://b",
                "gcloud storage rsync -r --delete-unmatched-destination-objects e gs://b",
            ],
            &["gsutil rsync -r a gs://b", "gsutil rsync -n -d a gs://b"],
        ),
    rule("rclone", "removes directories and versions")
        .sub("rmdirs|cleanup")
        .when(&[NoFlag("--dry-run -n -i --interactive")])
        .examples(&["rclone rmdirs r:b"], &["rclone sync a r:b", "rclone rmdirs -n r:b", "rclone copy a r:b"]),
    rule("mc", "deletes what is not in the source")
        .sub("mirror")
        .when(&[Flag("--remove")])
        .examples(&["mc mirror --remove --overwrite a x/b"], &["mc mirror a x/b"]),
    rule("s3cmd s4cmd", "deletes what is not in the source")
        .sub("sync")
        .when(&[Flag("--delete-removed --delete")])
        .examples(&["s3cmd sync --delete-removed a s3://b"], &["s3cmd sync a s3://b"]),
    rule("s5cmd", "deletes stored objects")
        .sub("rm|rb")
        .when(&[Text("*")])
        .examples(&["s5cmd rm 's3://b/*'"], &["s5cmd ls s3://b", "s5cmd rm s3://b/x"]),
    rule("swift", "deletes stored objects")
        .sub("delete")
        .examples(&["swift delete --all", "swift delete c"], &["swift list"]),
    rule("cf", "deletes an application or its data")
        .when(&[Named("delete delete-*")])
        .examples(&["cf delete app -f", "cf delete-org x"], &["cf apps"]),
    rule("eb", "takes an environment down with its data")
        .sub("terminate")
        .examples(&["eb terminate --all --force", "eb terminate x"], &["eb status"]),
    rule("atlas mongocli rancher nova cinder trove swiftly tkn astra tiup aiven avn", "deletes in the cloud")
        .when(&[Named("delete destroy terminate")])
        .examples(
            &[
                "atlas clusters delete x --force",
                "rancher clusters delete x",
                "nova delete x",
                "avn service terminate x",
            ],
            &["atlas clusters list", "nova list"],
        ),
    rule("skopeo crane regctl oras reg", "deletes from a registry").when(&[Named("delete")]).examples(
        &["skopeo delete docker://x/y", "crane delete x", "oras manifest delete x"],
        &["skopeo inspect docker://x", "crane ls x"],
    ),
    rule("bq", "deletes a table or a data set").sub("rm").examples(&["bq rm -f -t d.t", "bq rm -r d"], &["bq ls"]),
    rule("s3cmd mc b2 s5cmd rclone", "deletes stored objects")
        .when(&[
            Named("del rb rm delete-bucket delete_bucket purge"),
            Text("-r --recursive --force rb -f delete purge"),
        ])
        .examples(
            &["s3cmd del --recursive --force s3://b", "mc rb --force x/b", "mc rm -r --force x/b"],
            &["mc ls x", "s3cmd ls"],
        ),
    rule(
        "doctl linode-cli hcloud scw oci ibmcloud vultr-cli exo civo openstack ovhcloud upctl",
        "deletes in the cloud",
    )
    .when(&[Named("delete destroy rm terminate purge droplet-delete remove"), NoFlag("--help")])
    .examples(
        &["doctl compute droplet delete 1", "hcloud server delete x", "openstack server delete x"],
        &["hcloud server list", "doctl account get"],
    ),
    rule("heroku", "destroys an application or its data")
        .when(&[Named(
            "apps:destroy apps:delete destroy pg:reset addons:destroy spaces:destroy pipelines:destroy teams:destroy \
             keys:clear",
        )])
        .examples(
            &["heroku apps:destroy x", "heroku pg:reset DATABASE --confirm x", "heroku addons:destroy x"],
            &["heroku ps", "heroku pg:info"],
        ),
    rule("fly flyctl", "destroys an application or its data").when(&[Named("destroy")]).examples(
        &["fly apps destroy x", "fly volumes destroy v", "flyctl machine destroy m --force"],
        &["fly status"],
    ),
    rule("vercel now", "removes a project, a deployment or a setting")
        .sub(
            "rm|remove|project rm|project remove|domains rm|dns rm|blob del|env rm|env remove|certs rm|alias rm|\
             secrets rm",
        )
        .examples(&["vercel rm x --yes", "vercel project rm x"], &["vercel ls", "vercel deploy"]),
    rule("netlify ntl", "deletes a site")
        .when(&[Named("sites:delete blobs:delete")])
        .examples(&["netlify sites:delete x"], &["netlify status"]),
    rule("firebase", "deletes data")
        .when(&[Named(
            "firestore:delete database:remove projects:delete functions:delete hosting:disable \
             firestore:databases:delete",
        )])
        .examples(&["firebase firestore:delete --all-collections", "firebase database:remove /"], &["firebase deploy"]),
    rule("wrangler", "deletes at the edge")
        .when(&[Named("delete")])
        .examples(&["wrangler delete", "wrangler d1 delete x", "wrangler r2 bucket delete x"], &["wrangler deploy"]),
    rule("vault", "deletes secrets")
        .sub(
            "delete|kv delete|kv destroy|kv metadata delete|secrets disable|lease revoke|token revoke|auth disable|\
             policy delete",
        )
        .examples(&["vault kv metadata delete x", "vault secrets disable kv"], &["vault status"]),
    rule("consul", "deletes keys").sub("kv delete").examples(&["consul kv delete -recurse x"], &["consul kv get x"]),
    rule("nomad", "purges a job")
        .sub("job stop|stop|system gc|namespace delete")
        .when(&[Flag("-purge")])
        .examples(&["nomad job stop -purge x"], &["nomad job status"]),
    rule("planetscale pscale neonctl neon turso upstash", "deletes a database")
        .when(&[Named("delete destroy")])
        .examples(&["pscale database delete x", "turso db destroy x", "neonctl projects delete x"], &["turso db list"]),
    rule("render surge", "takes a site down")
        .sub("teardown|services delete")
        .examples(&["surge teardown x"], &["surge list"]),
    rule("kafka-delete-records kafka-delete-records.sh", "deletes records")
        .when(&[NoFlag("--help --version")])
        .examples(&["kafka-delete-records --offset-json-file x"], &["kafka-delete-records --help"]),
    rule("confluent kafka-topics kafka-topics.sh kafka-consumer-groups rpk", "deletes topics")
        .when(&[Text("--delete delete")])
        .examples(
            &["kafka-topics.sh --delete --topic x --bootstrap-server y", "rpk topic delete x"],
            &["kafka-topics.sh --list"],
        ),
    rule("rabbitmqctl rabbitmqadmin nats pulsar-admin", "deletes queues")
        .when(&[Named("reset force_reset delete_queue delete_vhost purge_queue delete purge rm delete_user")])
        .examples(&["rabbitmqctl delete_vhost x", "rabbitmqctl reset", "nats stream rm x"], &["rabbitmqctl status"]),
];

/// Returns true for `-rm -r` and `-rmr`: options of a command that is itself written as an option.
fn removes_below(words: &[Word], _: &Place) -> bool {
    let has = |names: &[&str]| words.iter().any(|word| names.contains(&word.text()));
    has(&["-rmr"]) || (has(&["-rm"]) && has(&["-r", "-R", "-skipTrash"]))
}
